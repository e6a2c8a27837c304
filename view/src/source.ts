// Sources of data: the page itself, the server of `fourhop view`, or its WebSocket (--live).

import type { Head } from "./types";

export interface Source {
  head(): Promise<Head>;
  blob(name: string): Promise<Uint8Array>;
}

async function unpacked(text: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A page with everything inside: `<script type="text/plain" id="blob-NAME">` with gzip in base64. */
class Embedded implements Source {
  async head(): Promise<Head> {
    return JSON.parse(new TextDecoder().decode(await this.blob("head"))) as Head;
  }
  async blob(name: string): Promise<Uint8Array> {
    const element = document.getElementById(`blob-${name}`);
    if (!element) throw new Error(`this page lacks the part ${name}: write it again with fourhop view --html`);
    return unpacked(element.textContent ?? "");
  }
}

/** `fourhop view DIR`: a request for each blob, on this machine. */
class Served implements Source {
  async head(): Promise<Head> {
    return (await this.get("head")).json() as Promise<Head>;
  }
  async blob(name: string): Promise<Uint8Array> {
    return new Uint8Array(await (await this.get(name)).arrayBuffer());
  }
  private async get(name: string): Promise<Response> {
    const answer = await fetch(`data/${name}`);
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
    return answer;
  }
}

/**
 * `fourhop view --live`: the server pushes. A message is the length of a name (4 bytes, little endian), the name and the bytes of
 * that blob, which replaces any of that name; a text is a new head, sent after the blobs that it names.
 */
export class Live implements Source {
  private readonly blobs = new Map<string, Uint8Array>();
  private readonly first: Promise<Head>;
  onhead: (head: Head, renewed: Set<string>) => void = () => undefined;
  onend: () => void = () => undefined;

  constructor() {
    const socket = new WebSocket(`ws://${location.host}/live`);
    socket.binaryType = "arraybuffer";
    let renewed = new Set<string>();
    this.first = new Promise((resolve, reject) => {
      socket.onmessage = (message: MessageEvent<string | ArrayBuffer>) => {
        if (typeof message.data === "string") {
          const head = JSON.parse(message.data) as Head;
          for (const name of this.blobs.keys()) {
            const chunk = Number(/-(\d+)$/.exec(name)?.[1] ?? Infinity);
            if (head.chunks.rows[chunk] === 0) this.blobs.delete(name);
          }
          resolve(head);
          this.onhead(head, renewed);
          renewed = new Set();
          return;
        }
        const length = new DataView(message.data).getUint32(0, true);
        const name = new TextDecoder().decode(new Uint8Array(message.data, 4, length));
        // A copy, so that columns are aligned for their type.
        this.blobs.set(name, new Uint8Array(message.data.slice(4 + length)));
        renewed.add(name);
      };
      socket.onerror = () => reject(new Error("the connection to fourhop view failed: check that it is still running"));
      socket.onclose = () => this.onend();
    });
  }
  head(): Promise<Head> {
    return this.first;
  }
  blob(name: string): Promise<Uint8Array> {
    const found = this.blobs.get(name);
    return found ? Promise.resolve(found) : Promise.reject(new Error(`${name} is older than the trace that is kept`));
  }
}

export function source(): Source {
  if (document.getElementById("blob-head")) return new Embedded();
  return document.documentElement.dataset["live"] === "yes" ? new Live() : new Served();
}
