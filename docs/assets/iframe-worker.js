// Search from the disk. Browsers start no workers for pages that were opened as files; there the worker's script runs in
// a hidden frame instead, with the same messages to and fro. Pages from a server are left alone.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      // Messages of the script in the frame go to the page; messages of the page arrive as events.
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = () => {};
      this.deliver = (data) => inner.dispatchEvent(new inner.MessageEvent("message", { data }));
      const script = inner.document.createElement("script");
      script.src = new URL(url, document.baseURI).href;
      script.onload = () => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach(this.deliver);
      };
      inner.document.body.append(script);
    }

    postMessage(data) {
      this.waiting ? this.waiting.push(data) : this.deliver(data);
    }

    terminate() {}
  };
}
