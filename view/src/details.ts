// Details of the selected frame or packet: its headers by tshark's names, its receivers, its packet's path, and how the
// time was spent.

import type { Chunk } from "./chunk";
import { duration, instant, type Model } from "./model";
import { frameName, nodeName } from "./names";
import type { Step, Trace } from "./trace";

type Row = [string, string];

function heading(text: string): HTMLElement {
  const made = document.createElement("h3");
  made.textContent = text;
  return made;
}

function list(rows: Row[]): HTMLElement {
  const made = document.createElement("dl");
  for (const [name, value] of rows) {
    const term = document.createElement("dt"), what = document.createElement("dd");
    term.textContent = name;
    what.textContent = value;
    made.append(term, what);
  }
  return made;
}

function table(head: string[], rows: string[][], marked: (row: number) => boolean = () => false): HTMLElement {
  const made = document.createElement("table");
  const line = (cells: string[], kind: "th" | "td") => {
    const row = document.createElement("tr");
    for (const text of cells) {
      const cell = document.createElement(kind);
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  };
  const top = document.createElement("thead");
  top.append(line(head, "th"));
  const body = document.createElement("tbody");
  rows.forEach((cells, at) => {
    const row = line(cells, "td");
    if (marked(at)) row.className = "marked";
    body.append(row);
  });
  made.append(top, body);
  return made;
}

export class Details {
  private shown: string | null = null;

  constructor(private readonly trace: Trace, private readonly model: Model, private readonly into: HTMLElement) {}

  /** Shows the selection; called whenever something has changed. */
  async draw(): Promise<void> {
    const { selected } = this.model;
    const key = selected ? `${selected.kind} ${selected.id}` : "";
    if (key === this.shown) return;
    this.shown = key;
    const parts = selected ? await (selected.kind === "frame" ? this.frame(selected.id) : this.packet(selected.id)) : [this.hint()];
    if (this.shown !== key) return;
    if (parts === null) {
      this.shown = null; // its data is being loaded
      return;
    }
    this.into.replaceChildren(...parts);
  }

  private hint(): HTMLElement {
    const made = document.createElement("p");
    made.textContent = "Select a frame in the time lines, on the map or in the sequence diagram, or press “.” or “,”.";
    return made;
  }

  private async found(frame: number): Promise<[Chunk, number] | null> {
    // It is near the current time: selecting a frame moves there.
    const middle = this.trace.chunkOf(this.model.t);
    for (const at of [middle, middle - 1, middle + 1]) {
      const chunk = at >= 0 && at < this.trace.head.chunks.rows.length ? await this.trace.load(at) : null;
      const row = chunk ? chunk.frames.frame.indexOf(frame) : -1;
      if (chunk && row >= 0) return [chunk, row];
    }
    return null;
  }

  private async frame(id: number): Promise<HTMLElement[] | null> {
    const where = await this.found(id);
    if (!where) return [list([["frame", `${id} is not near the current time`]])];
    const [chunk, row] = where;
    const { head } = this.trace;
    const { frames } = chunk;
    const node = (number: number) => nodeName(head, number);
    const start = chunk.t0 + frames.start[row]!, end = chunk.t0 + frames.end[row]!;
    const kind = head.names.kind[frames.kind[row]!]!;
    const types: Record<string, string> = { rts: "0x001b, request-to-send", cts: "0x001c, clear-to-send", ack: "0x001d, acknowledgement", data: "0x0020, data",
      "block-ack": "0x0019, block ack", "block-ack-request": "0x0018, block ack request" };
    const mpdus = frames.mpdus[row]!;
    const wlan: Row[] = [
      ["frame.number", String(id)],
      ["frame.time_relative", `${instant(start, 1)} s`],
      ["frame.len", `${frames.bytes[row]!} bytes`],
      ["wlan_radio.data_rate", `${frames.rate[row]! / 1e6} Mbit/s`],
      ["wlan_radio.duration", duration(end - start)],
      ["wlan.fc.type_subtype", mpdus > 0 ? "0x0028, QoS data" : types[kind] ?? kind],
      ...(mpdus > 1 ? [["MPDUs", `${mpdus}; these are the headers of the first`] as Row] : []),
      ["wlan.ra", node(frames.dst[row]!)],
      ...(kind === "data" || kind === "rts" ? [["wlan.ta", node(frames.node[row]!)] as Row] : []),
      ["wlan.duration", `${Math.ceil(frames.nav[row]! / 1000)} µs`],
      ...(kind.startsWith("block") ? [["wlan.fixed.ssc.sequence", String(frames.seq[row]!)] as Row] : []),
      ...(kind === "data" ? [["wlan.seq", String(frames.seq[row]!)] as Row, ["wlan.fc.retry", frames.retry[row]! > 0 ? "1, a retransmission" : "0"] as Row] : []),
    ];
    const parts: HTMLElement[] = [
      heading(`${frameName(head, frames, row)} from ${node(frames.node[row]!)} to ${node(frames.dst[row]!)}`), list(wlan),
    ];
    const packet = frames.packet[row]!;
    const steps = packet >= 0 ? await this.trace.way(packet, start) : [];
    if (kind === "data" && steps[0]) parts.push(this.headers(steps[0]));
    parts.push(heading("Reception at each node"), this.receptions(chunk, row, id));
    if (steps.length) parts.push(...this.way(steps, frames.node[row]!));
    return parts;
  }

  private async packet(id: number): Promise<HTMLElement[] | null> {
    const steps = await this.trace.way(id, this.model.t);
    if (!steps[0]) return [list([["packet", `${id} is not near the current time`]])];
    return [heading(`Packet ${id}`), this.headers(steps[0]), ...this.way(steps, -1)];
  }

  private headers(step: Step): HTMLElement {
    const { head } = this.trace;
    const rows: Row[] = [
      ["ip.src", nodeName(head, step.src)], ["ip.dst", nodeName(head, step.dst)], ["ip.len", `${step.bytes} bytes`],
    ];
    if (step.flow >= 0) rows.push(["flow", head.flows[step.flow]?.name ?? String(step.flow)]);
    if (step.content.startsWith("tcp")) {
      rows.push(["tcp.seq_raw", String(step.seq)], ["tcp.ack_raw", String(step.ack)], ["tcp.len", `${step.payload} bytes`]);
    } else rows.push(["content", step.content], ...(step.seq >= 0 ? [["number", String(step.seq)] as Row] : []));
    return list(rows);
  }

  private receptions(chunk: Chunk, row: number, id: number): HTMLElement {
    const { receptions, frames } = chunk;
    const { head } = this.trace;
    const rows: string[][] = [];
    let meant = -1;
    for (let at = 0; at < receptions.rows; at++) {
      if (receptions.frame[at] !== id) continue;
      if (receptions.node[at] === frames.dst[row]) meant = rows.length;
      rows.push([nodeName(head, receptions.node[at]!), head.names.fate[receptions.fate[at]!]!, `${receptions.power[at]!.toFixed(1)} dBm`]);
    }
    return table(["node", "outcome", "power"], rows, (at) => at === meant);
  }

  /** The path of a packet, with each hop's time in the queue, for medium access with all attempts, and on the air. */
  private way(steps: Step[], here: number): HTMLElement[] {
    const { head } = this.trace;
    const begin = steps[0]!.time;
    const events = steps.map((step) => [
      duration(step.time - begin), nodeName(head, step.node),
      step.event + (step.reason ? `: ${step.reason}` : "") + (step.peer >= 0 && step.event !== "created" ? ` (${nodeName(head, step.peer)})` : ""),
    ]);
    const hops: { node: number; queue: number; medium: number; failed: boolean }[] = [];
    let queued: Step | null = null, taken: Step | null = null;
    for (const step of steps) {
      if (step.event === "queued") [queued, taken] = [step, null];
      else if (step.event === "head") taken = step;
      else if ((step.event === "sent" || step.event === "failed") && queued?.node === step.node) {
        const moved: Step = taken ?? step;
        hops.push({ node: step.node, queue: moved.time - queued.time, medium: step.time - moved.time, failed: step.event === "failed" });
      }
    }
    const total = steps[steps.length - 1]!.time - begin;
    const parts: HTMLElement[] = [];
    if (hops.length) {
      const sum = (what: "queue" | "medium") => hops.reduce((all, hop) => all + hop[what], 0);
      const worst = hops.reduce((one, other) => (other.queue + other.medium > one.queue + one.medium ? other : one));
      const mostly = worst.queue > worst.medium ? "in its queue" : "for medium access, retries included";
      const words = document.createElement("p");
      words.textContent = `Total ${duration(total)}: ${duration(sum("queue"))} in queues, ${duration(sum("medium"))} for medium access. ` +
        `Longest at ${nodeName(head, worst.node)}: ${duration(worst.queue + worst.medium)}, mostly ${mostly}.`;
      parts.push(heading("Delay per hop"), words, table(
        ["node", "queue", "medium, attempts, air"],
        hops.map((hop) => [nodeName(head, hop.node), duration(hop.queue), duration(hop.medium) + (hop.failed ? ", failed" : "")]),
        (at) => hops[at]!.node === here,
      ));
    }
    parts.push(heading("Path"), table(["after", "node", "event"], events, (at) => steps[at]!.node === here));
    return parts;
  }
}
