// The lines of the plots: state of a flow's sender, and goodput at its receiver.

import { bisect } from "./search";
import type { Trace } from "./trace";
import type { Column } from "./types";

export interface Line { name: string; time: number[]; value: number[]; dashed: boolean }
export interface Plot { id: string; title: string; unit: string; lines: Line[]; steps: boolean }

/** Maximum number of points of a line; longer ones keep the minimum and maximum of each column of pixels. */
const POINTS = 2000;

export class Series {
  private flow = -1;
  private rows = -1;
  private plots: Plot[] = [];

  constructor(private readonly trace: Trace) {}

  /** The plots of a flow over the whole trace. */
  of(flow: number): Plot[] {
    if (flow !== this.flow || this.rows !== this.trace.tcp.rows + this.trace.queues.rows) {
      this.flow = flow;
      this.rows = this.trace.tcp.rows + this.trace.queues.rows;
      this.plots = this.made(flow);
    }
    return this.plots;
  }

  private made(flow: number): Plot[] {
    const { tcp, queues, head } = this.trace;
    const column = (name: string, values: Column, factor: number, dashed = false): Line => {
      const line: Line = { name, time: [], value: [], dashed };
      for (let row = 0; row < tcp.rows; row++) {
        if (tcp.flow[row] !== flow || tcp.sender[row] !== 1 || values[row]! < 0) continue;
        line.time.push(tcp.time[row]!);
        line.value.push(values[row]! * factor);
      }
      return line;
    };
    const path = new Set(this.trace.paths.ofFlow(flow, head.span[0]));
    const lengths = [...path].map((node): Line => {
      const line: Line = { name: head.nodes[node]!.name, time: [], value: [], dashed: false };
      for (let row = 0; row < queues.rows; row++) {
        if (queues.node[row] !== node) continue;
        line.time.push(queues.time[row]!);
        line.value.push(queues.packets[row]!);
      }
      return line;
    }).filter((line) => line.time.length > 0);
    return [
      { id: "window", title: "Window", unit: "segments", steps: true,
        lines: [column("congestion window", tcp.cwnd, 1), column("slow-start threshold", tcp.ssthresh, 1, true)] },
      { id: "rtt", title: "Round-trip time", unit: "ms", steps: true,
        lines: [column("latest", tcp.rtt, 1e-6, true), column("smoothed", tcp.srtt, 1e-6)] },
      { id: "interval", title: "Pacing interval", unit: "ms", steps: true, lines: [column("between segments", tcp.interval, 1e-6)] },
      { id: "queue", title: "Queue", unit: "packets", steps: true, lines: lengths },
      { id: "goodput", title: "Goodput", unit: "kbit/s", steps: false, lines: [this.goodput(flow)] },
    ];
  }

  /** Bytes in order at the receiver, over windows of 1 % of the run, at least 50 ms. */
  private goodput(flow: number): Line {
    const { tcp, head } = this.trace;
    const [first, last] = head.span;
    const bin = Math.max(5e7, (last - first) / 100);
    const bins = new Float64Array(Math.ceil((last - first) / bin) + 1);
    // The receiver's segments acknowledge the data received in order.
    let had = -1;
    for (let row = 0; row < tcp.rows; row++) {
      if (tcp.flow[row] !== flow || tcp.sender[row] !== 0 || tcp.ack[row]! < 0 || this.event(row) === "received") continue;
      const ack = tcp.ack[row]!;
      if (had >= 0 && ack > had) bins[Math.floor((tcp.time[row]! - first) / bin)]! += ack - had;
      had = Math.max(had, ack);
    }
    const time = Array.from(bins.subarray(0, Math.floor((last - first) / bin)), (_, at) => first + (at + 0.5) * bin);
    return { name: "goodput at the receiver", time, value: time.map((_, at) => (bins[at]! * 8) / (bin / 1e9) / 1000), dashed: false };
  }

  private event(row: number): string {
    return this.trace.head.names.tcp[this.trace.tcp.event[row]!] ?? "";
  }
}

/** The part of a line in a span, with one point on each side, thinned if there are more points than columns. */
export function visible(line: Line, from: number, to: number): [number[], number[]] {
  const begin = Math.max(0, bisect(line.time, from) - 1), end = Math.min(line.time.length, bisect(line.time, to) + 1);
  if (end - begin <= POINTS) return [line.time.slice(begin, end), line.value.slice(begin, end)];
  const time: number[] = [], value: number[] = [];
  const step = (end - begin) / (POINTS / 2);
  for (let part = 0; part < POINTS / 2; part++) {
    let low = Math.floor(begin + part * step), high = low;
    for (let at = low; at < Math.min(end, begin + (part + 1) * step); at++) {
      if (line.value[at]! < line.value[low]!) low = at;
      if (line.value[at]! > line.value[high]!) high = at;
    }
    for (const at of low < high ? [low, high] : [high, low]) {
      time.push(line.time[at]!);
      value.push(line.value[at]!);
    }
  }
  return [time, value];
}
