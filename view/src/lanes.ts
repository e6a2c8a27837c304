// Time lines: a row per node with its state on the medium, its backoff below, and the frames lost there. If the span
// has too many events for single frames, rows show how the time was shared.
//
// On the screen the picture consists of tiles, each drawn once: moving along the axis costs the same for ten frames and
// for a million. Everything that depends on the current time is drawn over them.

import type { Chunk } from "./chunk";
import { instant, marks, type Model } from "./model";
import { frameName, short } from "./names";
import { faded, palette, type Palette } from "./palette";
import { CanvasPen, type Pen } from "./pen";
import type { Trace } from "./trace";

/** Rows of tables in the span up to which single frames are drawn. */
const SINGLE = 150_000;
/** Where the axis begins; the same in all panels with a time axis. */
export const LEFT = 74;
const TOP = 20;
/** Points per tile, and how many tiles are cached. */
const TILE = 400;
const KEPT = 32;

export interface InLanes {
  /** Frames or parts of time; `loading`: missing data is being loaded. */
  mode: "frames" | "parts" | "loading";
  frames: number;
  losses: number;
  states: number;
}

/** A span of time and its place in a picture. */
interface Band { row: Map<number, number>; height: number; from: number; to: number; left: number; width: number; x(t: number): number }

export class Lanes {
  /** Counts of the last whole drawing; tiles are not counted. */
  shown: InLanes = { mode: "loading", frames: 0, losses: 0, states: 0 };
  /** Tiles drawn so far, for measurements. */
  drawn = 0;
  private tiles = new Map<string, { canvas: HTMLCanvasElement; whole: boolean }>();
  private band: Band | null = null;

  private readonly radios: number[];

  constructor(private readonly trace: Trace, private readonly model: Model) {
    this.radios = trace.head.nodes.flatMap(({ radio }, node) => (radio ? [node] : []));
  }

  /** Nodes with a row: the chosen ones, or all with a radio. */
  nodes(): number[] {
    return this.model.nodes ?? this.radios;
  }

  height(): number {
    return TOP + this.nodes().length * this.rowHeight() + 4;
  }

  rowHeight(): number {
    return Math.max(7, Math.min(30, Math.floor(420 / this.nodes().length)));
  }

  /** New data: redraws the tiles that lacked it. */
  renew(live: boolean): void {
    for (const [key, tile] of this.tiles) if (live || !tile.whole) this.tiles.delete(key);
  }

  private single(): boolean {
    return this.trace.rowsWithin(this.model.from, this.model.to) <= SINGLE;
  }

  private spread(from: number, to: number, left: number, width: number, top: number): Band {
    const height = this.rowHeight();
    const scale = width / (to - from);
    const row = new Map(this.nodes().map((node, place) => [node, top + place * height]));
    return { row, height, from, to, left, width, x: (t) => left + (t - from) * scale };
  }

  /** The whole picture at once, as for an export; `shown` says what is in it. */
  draw(pen: Pen): void {
    const { model } = this;
    const band = this.spread(model.from, model.to, LEFT, pen.width - LEFT, TOP);
    this.frame(pen, band, () => {
      this.shown = { mode: "frames", frames: 0, losses: 0, states: 0 };
      pen.clip(LEFT, 0, band.width, pen.height);
      const whole = this.paint(pen, band, this.single());
      this.shown.mode = whole ? (this.single() ? "frames" : "parts") : "loading";
      pen.unclip();
    });
  }

  /** The picture on the screen, from tiles. */
  show(pen: CanvasPen): void {
    const { model } = this;
    const width = pen.width - LEFT;
    const band = this.spread(model.from, model.to, LEFT, width, TOP);
    const single = this.single();
    const perPoint = model.width / width;
    const part = perPoint * TILE;
    this.frame(pen, band, () => {
      pen.clip(LEFT, 0, width, pen.height);
      let whole = true;
      // Numbered from the start of the run, so that a moved span finds the same tiles.
      const first = Math.floor((model.from - model.span[0]) / part), last = Math.floor((model.to - model.span[0]) / part);
      for (let at = first; at <= last; at++) {
        const tile = this.tile(at, part, single, pen.height);
        whole &&= tile.whole;
        pen.image(tile.canvas, band.x(model.span[0] + at * part), TOP, TILE, this.nodes().length * band.height);
      }
      this.shown = { mode: "frames", frames: 0, losses: 0, states: 0 };
      this.shown.mode = whole ? (single ? "frames" : "parts") : "loading";
      pen.unclip();
      // Read ahead on both sides.
      if (single && whole) for (const beside of [model.to + model.width / 2, model.from - model.width / 2]) void this.trace.load(this.trace.chunkOf(beside));
    });
  }

  private tile(at: number, part: number, single: boolean, height: number): { canvas: HTMLCanvasElement; whole: boolean } {
    const scale = window.devicePixelRatio || 1;
    const key = [at, part, single, this.nodes(), palette().dark, this.model.only ? this.model.flow : -1, this.model.selected?.kind,
      this.model.selected?.id, scale].join();
    const found = this.tiles.get(key);
    if (found) {
      this.tiles.delete(key);
      this.tiles.set(key, found);
      return found;
    }
    const canvas = document.createElement("canvas");
    canvas.width = TILE * scale;
    canvas.height = this.nodes().length * this.rowHeight() * scale;
    const to = canvas.getContext("2d")!;
    to.scale(scale, scale);
    const from = this.model.span[0] + at * part;
    const pen = new CanvasPen(to, TILE, height);
    const counted = this.shown;
    this.shown = { ...counted };
    const whole = this.paint(pen, this.spread(from, from + part, 0, TILE, 0), single);
    this.shown = counted;
    const tile = { canvas, whole };
    this.tiles.set(key, tile);
    this.drawn++;
    for (const old of this.tiles.keys()) {
      if (this.tiles.size <= KEPT) break;
      this.tiles.delete(old);
    }
    return tile;
  }

  /** Axis and names around what `inner` draws, and the instant over it. */
  private frame(pen: Pen, band: Band, inner: () => void): void {
    const colours = palette();
    const { trace, model } = this;
    const { height } = band;
    this.band = band;
    pen.rect(0, 0, pen.width, pen.height, colours.panel);
    for (const at of marks(model.from, model.to, band.width / 110)) {
      pen.line([band.x(at), TOP - 5, band.x(at), pen.height], colours.grid, 1);
      pen.text(`${instant(at, model.width)} s`, band.x(at), 8, colours.faint, 10, band.x(at) > pen.width - 40 ? "right" : "center");
    }
    inner();
    for (const [node, y] of band.row) {
      if (height >= 10 || node === model.node || node % Math.ceil(10 / height) === 0) {
        pen.text(short(trace.head.nodes[node]!.name), LEFT - 6, y + height / 2, node === model.node ? colours.text : colours.faint,
          Math.min(11, Math.max(8, height)), "right", node === model.node);
      }
      if (height >= 10) pen.line([0, y, pen.width, y], colours.grid, 0.5);
    }
    pen.clip(LEFT, 0, band.width, pen.height);
    this.cursor(pen, band, colours);
    pen.unclip();
  }

  /** Draws the events of a band's span. If they are not loaded, draws shares of time and returns false. */
  private paint(pen: Pen, band: Band, single: boolean): boolean {
    const colours = palette();
    const { trace } = this;
    const { chunks, whole } = single ? trace.within(band.from, band.to) : { chunks: [], whole: trace.overview !== null };
    if (single && whole) {
      for (const chunk of chunks) this.states(pen, band, chunk, colours);
      for (const chunk of chunks) this.frames(pen, band, chunk, colours);
      for (const chunk of chunks) this.losses(pen, band, chunk, colours);
      return true;
    }
    const top = [...band.row.values()][0] ?? 0;
    if (trace.overview && !single) {
      const picture = trace.overview.picture(this.nodes(), band, Math.ceil(band.width), band.height, colours);
      pen.image(picture, band.left, top, picture.width, picture.height);
    } else {
      pen.text(single ? "…" : "summing up this span …", band.left + 20, top + 10, colours.faint, 13);
    }
    return whole;
  }

  /** The node and time at a point, and the frame that the node transmits or hears then. */
  at(x: number, y: number): { node: number | null; t: number; frame: number | null } {
    const { model, trace, band } = this;
    if (!band) return { node: null, t: model.t, frame: null };
    const t = model.from + ((x - LEFT) / band.width) * model.width;
    const node = [...band.row].find(([, top]) => y >= top && y < top + band.height)?.[0] ?? null;
    if (node === null || !this.single()) return { node, t, frame: null };
    const slack = (2 * model.width) / band.width;
    let frame: number | null = null;
    for (const chunk of trace.within(t, t).chunks) {
      const { frames, receptions } = chunk;
      const [first, last] = chunk.rows(t - slack, t + slack);
      for (let row = first; row < last; row++) {
        if (chunk.t0 + frames.end[row]! + slack >= t && frames.node[row] === node) return { node, t, frame: frames.frame[row]! };
      }
      for (let row = 0; row < receptions.rows; row++) {
        const inside = chunk.t0 + receptions.start[row]! <= t && t <= chunk.t0 + receptions.end[row]!;
        if (inside && receptions.node[row] === node) frame = receptions.frame[row]!;
      }
    }
    return { node, t, frame };
  }

  private states(pen: Pen, band: Band, chunk: Chunk, colours: Palette): void {
    const { states } = chunk;
    const { height } = band;
    // Height of a state in its row (of 1), and its colour.
    const looks = this.trace.head.names.state.map((name): [number, number, string] | null => {
      switch (name) {
        case "receiving": return [0.12, 0.5, colours.receive];
        case "busy": return [0.3, 0.32, colours.busy];
        case "waiting": return [0.4, 0.22, colours.waiting];
        case "eifs": return [0.48, 0.14, colours.busy];
        case "nav": return [0.54, 0.08, colours.nav];
        case "counting": return [0.7, 0.24, colours.counting];
        case "frozen": return [0.7, 0.24, colours.frozen];
        case "ifs": return [0.82, 0.12, colours.faint];
        default: return null; // transmissions are drawn as frames
      }
    });
    // Several states within one point are drawn once.
    const last = new Map<number, number>();
    const [low, high] = [band.from - chunk.t0, band.to - chunk.t0];
    const length = chunk.t1 - chunk.t0;
    for (let row = 0; row < states.rows; row++) {
      const start = states.start[row]!, stop = states.end[row]!;
      if (stop < low || start > high) continue;
      const node = states.node[row]!, state = states.state[row]!;
      const top = band.row.get(node);
      const look = looks[state];
      if (top === undefined || !look) continue;
      // A state that spans several chunks is in each of them, and each draws its part.
      if (start >= Math.max(low, 0)) this.shown.states++;
      const left = band.x(chunk.t0 + Math.max(start, 0)), right = band.x(chunk.t0 + Math.min(stop, length));
      const key = node * 16 + state;
      if (right - left < 0.5 && Math.floor(left) === last.get(key)) continue;
      last.set(key, Math.floor(right));
      pen.rect(left, top + look[0] * height, Math.max(right - left, 0.5), Math.max(look[1] * height, 1), look[2]);
    }
  }

  private frames(pen: Pen, band: Band, chunk: Chunk, colours: Palette): void {
    const { frames } = chunk;
    const { model, trace } = this;
    const [first, last] = chunk.rows(band.from, band.to);
    for (let row = first; row < last; row++) {
      const top = band.row.get(frames.node[row]!);
      const flow = frames.flow[row]!;
      if (top === undefined || (model.only && flow !== model.flow)) continue;
      const begin = chunk.t0 + frames.start[row]!, end = chunk.t0 + frames.end[row]!;
      // Drawn by the chunk in which it begins, or by the first one in the picture.
      if (end < band.from || (frames.start[row]! < 0 && chunk.t0 > band.from)) continue;
      this.shown.frames++;
      const left = band.x(begin), width = Math.max(band.x(end) - left, 1);
      const name = frameName(trace.head, frames, row);
      const control = name === "RTS" || name === "CTS" || name === "ACK";
      const colour = colours.flow(flow);
      const high = band.height * (control ? 0.42 : 0.62);
      const y = top + band.height * 0.64 - high;
      pen.rect(left, y, width, high, control ? faded(colour, 0.75) : colour);
      if (frames.retry[row]! > 0) pen.line([left, y - 1, left + width, y - 1], colours.lost, 2);
      if (model.selected?.kind === "frame" && model.selected.id === frames.frame[row]) {
        pen.line([left, y, left + width, y, left + width, y + high, left, y + high, left, y], colours.selected, 2);
      } else if (model.selected?.kind === "packet" && model.selected.id === frames.packet[row]) {
        pen.line([left, y + high, left + width, y + high], colours.selected, 2);
      }
      if (width > name.length * 6.5 + 6 && band.height >= 14) {
        pen.text(name, left + 4, y + high / 2, colours.dark ? "#10131a" : "#ffffff", Math.min(10, high), "left", true);
      }
    }
  }

  private losses(pen: Pen, band: Band, chunk: Chunk, colours: Palette): void {
    const { receptions, frames } = chunk;
    const { model } = this;
    // Marks extend a little beyond the end of a tile into the next.
    const margin = ((band.to - band.from) / band.width) * 80;
    for (const { end, row, frame, mine } of chunk.lostIn(band.from - margin, band.to + margin)) {
      const top = band.row.get(receptions.node[row]!);
      if (!mine || top === undefined || (model.only && frames.flow[frame] !== model.flow)) continue;
      const inside = chunk.t0 + end >= band.from && chunk.t0 + end < band.to;
      if (inside) this.shown.losses++;
      const left = band.x(chunk.t0 + receptions.start[row]!), x = band.x(chunk.t0 + end), y = top + band.height * 0.36;
      const size = Math.min(5, band.height / 3);
      pen.line([left, top + band.height * 0.66, x, top + band.height * 0.66], colours.lost, 1.5);
      pen.line([x - size, y - size, x + size, y + size], colours.lost, 2);
      pen.line([x - size, y + size, x + size, y - size], colours.lost, 2);
      const fate = this.trace.head.names.fate[receptions.fate[row]!]!;
      if (band.height >= 20 && x - left > 70) pen.text(fate, x - size - 4, y, colours.lost, 10, "right", true);
    }
  }

  /** The current time, and the hops between the nodes that transmit then. */
  private cursor(pen: Pen, band: Band, colours: Palette): void {
    const { t, flow } = this.model;
    const x = band.x(t);
    pen.line([x, TOP - 6, x, pen.height], colours.cursor, 1.5);
    pen.polygon([x - 5, TOP - 12, x + 5, TOP - 12, x, TOP - 5], colours.cursor);
    const senders = new Set<number>();
    for (const chunk of this.trace.within(t, t).chunks) {
      const [first, last] = chunk.rows(t, t + 1);
      for (let row = first; row < last; row++) if (t < chunk.t0 + chunk.frames.end[row]!) senders.add(chunk.frames.node[row]!);
    }
    const active = this.trace.paths.at(flow, t).map((node, place) => [node, place] as const)
      .filter(([node]) => senders.has(node) && band.row.has(node));
    for (let at = 1; at < active.length; at++) {
      const [[one, first], [other, second]] = [active[at - 1]!, active[at]!];
      const ys = [one, other].map((node) => band.row.get(node)! + band.height / 2);
      const words = `${second - first} hop${second - first === 1 ? "" : "s"}`;
      pen.line([x + 8, ys[0]!, x + 14, ys[0]!, x + 14, ys[1]!, x + 8, ys[1]!], colours.cursor, 1.5);
      pen.rect(x + 18, (ys[0]! + ys[1]!) / 2 - 8, words.length * 7, 16, colours.panel);
      pen.text(words, x + 20, (ys[0]! + ys[1]!) / 2, colours.cursor, 12, "left", true);
    }
  }
}
