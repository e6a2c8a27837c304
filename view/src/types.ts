// Data from Python (python/fourhop/view/blobs.py). Times are nanoseconds; a `number` holds 104 days of them exactly.

/** Hosts on wires (`radio` is false) have no position. */
export interface NodeInfo { name: string; x: number | null; y: number | null; radio: boolean; gateway: boolean }
export interface FlowInfo { name: string; source: number; destination: number; transport: string }
export interface Wall { x1: number; y1: number; x2: number; y2: number; loss_db: number }

/** The blob `head`, as JSON: everything but rows. Codes in tables are indices into the lists of names. */
export interface Head {
  title: string;
  profile: string;
  seed: number;
  live: boolean;
  span: [number, number];
  /** The opening view: a data frame of a flow, its start (`from`), and a time at which it is on the air. */
  opens: { from: number; t: number; frame: number; flow: number; node: number };
  /** Links between nodes: two nodes, the margin in dB, whether there are both directions. */
  links: [number, number, number, boolean][];
  ranges: { receive: number; sense: number };
  nodes: NodeInfo[];
  flows: FlowInfo[];
  walls: Wall[];
  names: { kind: string[]; content: string[]; fate: string[]; state: string[]; event: string[]; reason: string[]; tcp: string[]; queue: string[] };
  /** Tables of time spans: `frames-3` has everything that overlaps the span from `first + 3 * length` on; `rows` counts it. */
  chunks: { first: number; length: number; rows: number[] };
  /** Bins of the overview: per node and bin the shares (of 255) of sending, receiving and sensing, then the number of losses. */
  bins: number;
  /** Rows in the trace, for the reader. */
  counts: Record<string, number>;
}

/** Columns of numbers, all of one length. Times in tables of chunks are relative to the chunk, as 32 bits. */
export type Column = Float64Array | Float32Array | Int32Array | Uint32Array | Int16Array | Uint16Array | Uint8Array | Int8Array;
export type Table<Name extends string> = { readonly rows: number } & { readonly [key in Name]: Column };

/** As in docs/trace.md. -1: no value. */
export type Frames = Table<"frame" | "node" | "kind" | "start" | "end" | "dst" | "flow" | "packet" | "bytes" | "rate" | "seq" | "retry" | "nav" | "mpdus" | "content">;
export type Receptions = Table<"frame" | "node" | "start" | "end" | "power" | "fate">;
export type States = Table<"node" | "start" | "end" | "state" | "slots">;
export type Packets = Table<"time" | "packet" | "node" | "event" | "reason" | "flow" | "content" | "seq" | "ack" | "payload" | "bytes" | "peer" | "src" | "dst">;
export type Tcp = Table<"time" | "flow" | "sender" | "event" | "packet" | "seq" | "ack" | "payload" | "offered" | "cwnd" | "ssthresh" | "flight" | "srtt" | "rtt" | "rto" | "interval">;
/** The interface queues; others are in the tables. */
export type Queues = Table<"time" | "node" | "packets">;
export type Routes = Table<"time" | "node" | "dst" | "next" | "hops" | "up">;
export type Positions = Table<"time" | "node" | "x" | "y">;
/** Targets of the step buttons: 0 loss, 1 drop, 2 timeout, 3 route change. `ref` is a frame (loss) or a packet (drop). */
export type Events = Table<"time" | "what" | "node" | "flow" | "ref" | "reason">;
