// The sequence diagram of a flow: a line for each node of its path, an arrow for each frame that carries one of its packets,
// a bar where a packet waits. Time runs to the right, as in all panels.

import { isLoss, type Chunk } from "./chunk";
import { LEFT } from "./lanes";
import type { Model } from "./model";
import { nodeName, short } from "./names";
import { faded, palette } from "./palette";
import { CanvasPen, type Pen } from "./pen";
import type { Trace } from "./trace";

const TOP = 12;
const ROW = 30;
/** Maximum number of arrows drawn individually. */
const MOST = 6000;

export interface InSequence { path: number[]; arrows: number; lost: number; wired: number }

export class Sequence {
  shown: InSequence = { path: [], arrows: 0, lost: 0, wired: 0 };
  private still: { key: string; canvas: HTMLCanvasElement } | null = null;
  private hits: { left: number; right: number; y1: number; y2: number; frame: number }[] = [];

  constructor(private readonly trace: Trace, private readonly model: Model) {}

  height(): number {
    return TOP + Math.max(2, this.trace.paths.ofFlow(this.model.flow, this.model.t).length) * ROW;
  }

  /** On the screen: everything that does not depend on the current time is drawn once. */
  show(pen: CanvasPen, loaded: number): void {
    const { model } = this;
    const scale = window.devicePixelRatio || 1;
    const path = this.trace.paths.ofFlow(model.flow, model.t);
    const key = [model.from, model.to, model.flow, model.selected?.kind, model.selected?.id, loaded, pen.width, pen.height, palette().dark, path, scale].join();
    if (this.still?.key !== key) {
      const canvas = this.still?.canvas ?? document.createElement("canvas");
      [canvas.width, canvas.height] = [pen.width * scale, pen.height * scale];
      const to = canvas.getContext("2d", { alpha: false })!;
      to.scale(scale, scale);
      this.paint(new CanvasPen(to, pen.width, pen.height));
      this.still = { key, canvas };
    }
    pen.image(this.still.canvas, 0, 0, pen.width, pen.height);
    this.cursor(pen);
  }

  draw(pen: Pen): void {
    this.paint(pen);
    this.cursor(pen);
  }

  private cursor(pen: Pen): void {
    const { t, from, to } = this.model;
    const at = LEFT + ((t - from) / (to - from)) * (pen.width - LEFT);
    if (at >= LEFT) pen.line([at, 0, at, pen.height], palette().cursor, 1.5);
  }

  private paint(pen: Pen): void {
    const colours = palette();
    const { trace, model } = this;
    const path = trace.paths.ofFlow(model.flow, model.t);
    const y = new Map(path.map((node, place) => [node, TOP + place * ROW + ROW / 3]));
    const scale = (pen.width - LEFT) / model.width;
    const x = (t: number) => LEFT + (t - model.from) * scale;
    this.shown = { path, arrows: 0, lost: 0, wired: 0 };
    this.hits = [];
    pen.rect(0, 0, pen.width, pen.height, colours.panel);
    for (const [node, at] of y) {
      pen.line([LEFT, at, pen.width, at], colours.grid, 1);
      pen.text(short(nodeName(trace.head, node)), LEFT - 6, at, colours.text, 11, "right");
    }
    const { chunks, whole } = trace.rowsWithin(model.from, model.to) <= 200_000 ? trace.within(model.from, model.to)
      : { chunks: [], whole: false };
    const names = trace.head.names;
    const data = names.kind.indexOf("data");
    const ours = (chunk: Chunk, row: number) =>
      chunk.frames.kind[row] === data && chunk.frames.flow[row] === model.flow && y.has(chunk.frames.node[row]!);
    let arrows = 0;
    for (const chunk of chunks) {
      const [first, last] = chunk.rows(model.from, model.to);
      for (let row = first; row < last; row++) if (ours(chunk, row)) arrows++;
    }
    pen.clip(LEFT, 0, pen.width - LEFT, pen.height);
    if (path.length < 2) pen.text("The trace has no path for this flow.", LEFT + 12, TOP + ROW, colours.faint, 12);
    if (!whole || arrows > MOST) {
      pen.text(whole ? `${arrows} frames: zoom in to see single frames` : "zoom in to see single frames", LEFT + 12, TOP + 2, colours.faint, 12);
    } else {
      const colour = colours.flow(model.flow);
      this.wires(pen, chunks, y, x, colour);
      for (const chunk of chunks) {
        this.waits(pen, chunk, y, x);
        const [first, last] = chunk.rows(model.from, model.to);
        for (let row = first; row < last; row++) {
          if (!ours(chunk, row) || (chunk.frames.start[row]! < 0 && chunk.t0 > model.from)) continue;
          const { frames } = chunk;
          const from = y.get(frames.node[row]!)!, to = y.get(frames.dst[row]!) ?? from + ROW / 2;
          const left = x(chunk.t0 + frames.start[row]!), right = x(chunk.t0 + frames.end[row]!);
          if (right < LEFT || left > pen.width) continue;
          const content = names.content[frames.content[row]!] ?? "";
          const back = content === "tcp-ack";
          const lost = chunk.fate[row]! >= 0 && isLoss(names.fate[chunk.fate[row]!]!);
          const chosen = model.selected && (model.selected.kind === "frame" ? frames.frame[row] : frames.packet[row]) === model.selected.id;
          // The first bit leaves at the left end, the last one arrives at the right end.
          const end = lost ? from + (to - from) * 0.6 : to;
          pen.line([left, from, right, end], chosen ? colours.selected : back ? faded(colour, 0.55) : colour, chosen ? 3 : back ? 1.2 : 2,
            back ? [4, 2] : []);
          if (lost) {
            this.shown.lost++;
            pen.line([right - 4, end - 4, right + 4, end + 4], colours.lost, 2);
            pen.line([right - 4, end + 4, right + 4, end - 4], colours.lost, 2);
          } else {
            const down = to > from ? -1 : 1;
            pen.polygon([right, to, right - 5, to + down * 4 - 1, right - 1, to + down * 7], chosen ? colours.selected : colour);
          }
          this.shown.arrows++;
          this.hits.push({ left, right, y1: from, y2: to, frame: frames.frame[row]! });
        }
      }
    }
    pen.unclip();
  }

  /** The frame whose arrow is at a point. */
  at(px: number, py: number): number | null {
    const hit = this.hits.find(({ left, right, y1, y2 }) => {
      if (px < left - 4 || px > right + 4 || py < Math.min(y1, y2) - 3 || py > Math.max(y1, y2) + 3) return false;
      const part = (px - left) / Math.max(1, right - left);
      return Math.abs(y1 + (y2 - y1) * part - py) < 8;
    });
    return hit?.frame ?? null;
  }

  /** A dotted line for each packet on a wire, from sender to receiver. */
  private wires(pen: Pen, chunks: Chunk[], y: Map<number, number>, x: (t: number) => number, colour: string): void {
    const { event } = this.trace.head.names;
    const out = event.indexOf("wire-out"), arrived = event.indexOf("wire-in");
    const left = new Map<string, number>();
    for (const { packets, t0 } of chunks) {
      for (let row = 0; row < packets.rows; row++) {
        if (packets.flow[row] !== this.model.flow) continue;
        const [node, peer, packet] = [packets.node[row]!, packets.peer[row]!, packets.packet[row]!];
        const time = t0 + packets.time[row]!;
        if (packets.event[row] === out) left.set([packet, node, peer].join(), time);
        else if (packets.event[row] === arrived) {
          const since = left.get([packet, peer, node].join());
          const [from, to] = [y.get(peer), y.get(node)];
          if (since === undefined || from === undefined || to === undefined) continue;
          pen.line([x(since), from, x(time), to], faded(colour, 0.6), 1, [1, 3]);
          this.shown.wired++;
        }
      }
    }
  }

  /** Bars of queueing time: from the link's acceptance of a packet until the MAC takes it. */
  private waits(pen: Pen, chunk: Chunk, y: Map<number, number>, x: (t: number) => number): void {
    const { packets } = chunk;
    const queued = this.trace.head.names.event.indexOf("queued"), head = this.trace.head.names.event.indexOf("head");
    const since = new Map<number, number>();
    const colours = palette();
    for (let row = 0; row < packets.rows; row++) {
      if (packets.flow[row] !== this.model.flow) continue;
      const key = packets.packet[row]! * 1024 + packets.node[row]!;
      if (packets.event[row] === queued) since.set(key, packets.time[row]!);
      else if (packets.event[row] === head) {
        const begin = since.get(key), at = y.get(packets.node[row]!);
        if (begin === undefined || at === undefined) continue;
        const left = x(chunk.t0 + begin), right = x(chunk.t0 + packets.time[row]!);
        if (right - left > 1) pen.rect(left, at - 2, right - left, 4, faded(colours.counting, 0.45));
      }
    }
  }
}
