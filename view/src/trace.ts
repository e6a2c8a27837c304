// The tables of a trace: small ones whole, those of frames by spans of time ("chunks"), read on demand and dropped
// again.

import { tableFromIPC } from "@uwdata/flechette";
import { Chunk } from "./chunk";
import { Overview } from "./overview";
import { Paths } from "./routes";
import { bisect } from "./search";
import type { Source } from "./source";
import type { Column, Events, Frames, Head, Packets, Positions, Queues, Receptions, Routes, States, Tcp } from "./types";

/** Maximum number of chunks in memory; with about 25 000 rows each, they take about 50 MB. */
const KEPT = 64;

/** A table before it is loaded. */
const NOTHING = { rows: 0 } as Tcp & Queues & Events;

/** A packet without an event for this many nanoseconds counts as gone. */
const FAR = 3e9;

/** One event on the path of a packet. */
export interface Step {
  time: number; node: number; event: string; reason: string; peer: number; flow: number; content: string;
  seq: number; ack: number; payload: number; bytes: number; src: number; dst: number;
}

function table<T>(bytes: Uint8Array): T {
  const arrow = tableFromIPC(bytes);
  const columns: Record<string, unknown> = { rows: arrow.numRows };
  for (const name of arrow.names) columns[name] = arrow.getChild(name).toArray() as Column;
  return columns as T;
}

export const LOSS = 0, DROP = 1, TIMEOUT = 2, ROUTE = 3;

export class Trace {
  /** Positions of each node in order of time. */
  private readonly ways: { time: number[]; x: number[]; y: number[] }[];
  private readonly chunks = new Map<number, Chunk>();
  private readonly asked = new Map<number, Promise<Chunk | null>>();
  paths: Paths;
  tcp: Tcp = NOTHING;
  queues: Queues = NOTHING;
  events: Events = NOTHING;
  overview: Overview | null = null;
  private all: Promise<void> | null = null;
  private missing: string | null = null;
  /** Called when new data is loaded. */
  onload: () => void = () => undefined;

  constructor(
    private readonly source: Source,
    public head: Head,
    routes: Routes,
    positions: Positions,
  ) {
    // Hosts on wires have no position and are not on the map.
    this.ways = head.nodes.map((node) => (node.x === null || node.y === null ? { time: [], x: [], y: [] }
      : { time: [head.span[0]], x: [node.x], y: [node.y] }));
    this.move(positions);
    this.paths = new Paths(head, routes);
  }

  static async open(source: Source): Promise<Trace> {
    const head = await source.head();
    const [routes, positions] = await Promise.all(["routes", "positions"].map((name) => source.blob(name)));
    return new Trace(source, head, table<Routes>(routes!), table<Positions>(positions!));
  }

  /** Loads the parts that the first picture does not need: plots, steps, and the overview, which is counted from all rows. */
  private async rest(): Promise<void> {
    const take = async (name: string, use: (bytes: Uint8Array) => void): Promise<void> => {
      use(await this.source.blob(name));
      this.onload();
    };
    try {
      await take("tcp", (bytes) => (this.tcp = table<Tcp>(bytes)));
      await take("queues", (bytes) => (this.queues = table<Queues>(bytes)));
      if (this.head.bins > 0) await take("overview", (bytes) => (this.overview = new Overview(this.head, bytes)));
      await take("events", (bytes) => (this.events = table<Events>(bytes)));
    } catch (error) {
      this.missing = String(error);
      this.onload();
    }
  }

  /** Everything but the tables of spans, which are read on demand. */
  whole(): Promise<void> {
    return (this.all ??= this.rest());
  }

  /** A live trace has grown. */
  async renew(head: Head, renewed: Set<string>): Promise<void> {
    this.head = head;
    for (const name of renewed) {
      const chunk = /^frames-(\d+)$/.exec(name);
      if (chunk) {
        this.chunks.delete(Number(chunk[1]));
        this.asked.delete(Number(chunk[1]));
      } else if (name === "tcp") this.tcp = table<Tcp>(await this.source.blob(name));
      else if (name === "queues") this.queues = table<Queues>(await this.source.blob(name));
      else if (name === "routes") this.paths = new Paths(head, table<Routes>(await this.source.blob(name)));
      else if (name === "events") this.events = table<Events>(await this.source.blob(name));
      else if (name === "overview") this.overview = new Overview(head, await this.source.blob(name));
      else if (name === "positions") this.move(table<Positions>(await this.source.blob(name)));
    }
    this.onload();
  }

  private move(positions: Positions): void {
    for (let row = 0; row < positions.rows; row++) {
      const way = this.ways[positions.node[row]!];
      if (!way || positions.time[row]! < (way.time[way.time.length - 1] ?? -Infinity)) continue;
      way.time.push(positions.time[row]!);
      way.x.push(positions.x[row]!);
      way.y.push(positions.y[row]!);
    }
  }

  /** The position of a node at a time: linear between those in the trace. */
  place(node: number, t: number): [number, number] {
    const { time, x, y } = this.ways[node]!;
    if (time.length === 0) return [NaN, NaN];
    const after = bisect(time, t);
    if (after === 0) return [x[0]!, y[0]!];
    const before = after - 1;
    if (after === time.length) return [x[before]!, y[before]!];
    const part = (t - time[before]!) / (time[after]! - time[before]!);
    return [x[before]! + part * (x[after]! - x[before]!), y[before]! + part * (y[after]! - y[before]!)];
  }

  /** The bounding box of all positions. */
  area(): [number, number, number, number] {
    const xs = this.ways.flatMap((way) => way.x);
    const ys = this.ways.flatMap((way) => way.y);
    const least = (all: number[]) => all.reduce((a, b) => Math.min(a, b), Infinity);
    const most = (all: number[]) => all.reduce((a, b) => Math.max(a, b), -Infinity);
    return [least(xs), least(ys), most(xs), most(ys)];
  }

  /** The number of the chunk that contains a time. */
  chunkOf(t: number): number {
    const { first, length, rows } = this.head.chunks;
    return Math.max(0, Math.min(rows.length - 1, Math.floor((t - first) / length)));
  }

  /** Number of rows in the chunks of a span. */
  rowsWithin(from: number, to: number): number {
    let sum = 0;
    for (let at = this.chunkOf(from); at <= this.chunkOf(to); at++) sum += this.head.chunks.rows[at]!;
    return sum;
  }

  /** The loaded chunks of a span; requests the others. `whole`: all are loaded. */
  within(from: number, to: number): { chunks: Chunk[]; whole: boolean } {
    const chunks: Chunk[] = [];
    let whole = true;
    for (let at = this.chunkOf(from); at <= this.chunkOf(to); at++) {
      if (this.head.chunks.rows[at] === 0) continue;
      const chunk = this.chunks.get(at);
      if (chunk) {
        this.chunks.delete(at); // to the end of the order in which chunks are forgotten
        this.chunks.set(at, chunk);
        chunks.push(chunk);
      } else {
        whole = false;
        void this.load(at);
      }
    }
    return { chunks, whole };
  }

  /** A chunk, from memory or read; null if it is not available. */
  load(at: number): Promise<Chunk | null> {
    let asked = this.asked.get(at);
    if (!asked) {
      asked = this.read(at);
      this.asked.set(at, asked);
    }
    return asked;
  }

  private async read(at: number): Promise<Chunk | null> {
    try {
      const [frames, receptions, states, packets] = await Promise.all(
        ["frames", "receptions", "mac", "packets"].map((name) => this.source.blob(`${name}-${at}`)),
      );
      const t0 = this.head.chunks.first + at * this.head.chunks.length;
      const chunk = new Chunk(this.head, t0, t0 + this.head.chunks.length, table<Frames>(frames!), table<Receptions>(receptions!),
        table<States>(states!), table<Packets>(packets!));
      this.chunks.set(at, chunk);
      for (const old of this.chunks.keys()) {
        if (this.chunks.size <= KEPT) break;
        this.chunks.delete(old);
        this.asked.delete(old);
      }
      this.onload();
      return chunk;
    } catch (error) {
      this.missing = String(error);
      return null;
    }
  }

  /**
   * All events of a packet in order of time. Searches from `t` in both directions until the packet was created and
   * has ended, or had no event for `FAR`.
   */
  async way(packet: number, t: number): Promise<Step[]> {
    const found: Step[] = [];
    const take = async (at: number): Promise<number> => {
      const chunk = await this.load(at);
      let count = 0;
      if (!chunk) return 0;
      const { packets, t0 } = chunk;
      for (let row = 0; row < packets.rows; row++) {
        if (packets.packet[row] !== packet) continue;
        count++;
        const value = (column: Column) => column[row]!;
        found.push({
          time: t0 + packets.time[row]!, node: value(packets.node), event: this.head.names.event[value(packets.event)]!,
          reason: value(packets.reason) < 0 ? "" : this.head.names.reason[value(packets.reason)]!, peer: value(packets.peer),
          flow: value(packets.flow), content: this.head.names.content[value(packets.content)] ?? "", seq: value(packets.seq),
          ack: value(packets.ack), payload: value(packets.payload), bytes: value(packets.bytes), src: value(packets.src),
          dst: value(packets.dst),
        });
      }
      return count;
    };
    const middle = this.chunkOf(t);
    await take(middle);
    for (const forward of [false, true]) {
      let quiet = 0;
      const ends = () => found.some(({ event }) => (forward ? event === "delivered" || event === "dropped" : event === "created"));
      for (let at = middle + (forward ? 1 : -1); at >= 0 && at < this.head.chunks.rows.length && !ends(); at += forward ? 1 : -1) {
        if ((await take(at)) > 0) quiet = 0;
        else if (++quiet * this.head.chunks.length > FAR) break;
      }
    }
    return found.sort((one, other) => one.time - other.time);
  }

  /** The error of the last failed read, if any. */
  get trouble(): string | null {
    return this.missing;
  }

  /** The next (or last) event of one of the kinds after (before) a time. */
  step(whats: number[], t: number, forward: boolean, flow: number): number | null {
    const { time, what, rows } = this.events;
    const far = forward ? bisect(time, t) : bisect(time, t - 1) - 1;
    for (let at = far; at >= 0 && at < rows; at += forward ? 1 : -1) {
      if (time[at] === t) continue;
      const ours = flow < 0 || this.events.flow[at] === flow || this.events.flow[at]! < 0;
      if (whats.includes(what[at]!) && ours) return at;
    }
    return null;
  }
}
