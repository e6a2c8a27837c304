// The map: nodes with their ranges, frames as they spread, what is lost and why, walls.

import type { Chunk } from "./chunk";
import type { Model } from "./model";
import { frameName } from "./names";
import { faded, palette, shape, type Palette, type Shape } from "./palette";
import type { Pen } from "./pen";
import type { Trace } from "./trace";

/** Metres a nanosecond. */
const LIGHT = 0.299792458;
/** How long a loss stays on the map, in seconds of the reader. */
const FADE = 0.6;
/** Spans of losses up to which those at nodes that were not meant are shown, too: nanoseconds. */
const BRIEF = 2e7;

export interface OnMap {
  /** Frames in the air at the instant, losses shown, and where each node is in metres. */
  frames: number[];
  losses: number;
  places: [number, number][];
}

interface Scale { x(metres: number): number; y(metres: number): number; size: number }

export class MapView {
  /** What was last drawn, for a click and for tests. */
  shown: OnMap = { frames: [], losses: 0, places: [] };
  private hits: { x: number; y: number; frame: number }[] = [];
  private scale: Scale | null = null;
  /** Beside the whole area: magnified by `zoom` about a point in metres. */
  zoom = 1;
  centre: [number, number] | null = null;

  constructor(private readonly trace: Trace, private readonly model: Model) {}

  draw(pen: Pen): void {
    const colours = palette();
    const { trace, model } = this;
    const t = model.t;
    const places = trace.head.nodes.map((_, node) => trace.place(node, t));
    const scale = this.scaled(pen);
    this.scale = scale;
    this.hits = [];
    pen.rect(0, 0, pen.width, pen.height, colours.panel);
    for (const wall of trace.head.walls) {
      pen.line([scale.x(wall.x1), scale.y(wall.y1), scale.x(wall.x2), scale.y(wall.y2)], colours.wall, 4);
      const middle = [scale.x((wall.x1 + wall.x2) / 2), scale.y((wall.y1 + wall.y2) / 2)];
      pen.text(`${wall.loss_db} dB`, middle[0]! + 6, middle[1]! - 8, colours.wall, 10);
    }
    this.ranges(pen, scale, places[model.node]!, colours);
    const shown: OnMap = { frames: [], losses: 0, places };
    const seconds = FADE * 1e9 * model.speed;
    const since = Math.max(model.span[0], t - Math.max(Math.min(seconds, 4 * trace.head.chunks.length), 1e5));
    const { chunks } = trace.within(since, t);
    const now = new Set<number>();
    for (const chunk of chunks) this.frames(pen, scale, chunk, places, colours, now);
    for (const chunk of chunks) this.losses(pen, scale, chunk, since, places, colours, shown);
    shown.frames = [...now];
    const small = places.length > 60;
    places.forEach(([x, y], node) => {
      const radius = small ? 4 : 6;
      const chosen = node === model.node;
      pen.circle(scale.x(x), scale.y(y), radius, colours.panel, chosen ? colours.selected : colours.faint, chosen ? 2.5 : 1.5);
      if (!small || chosen) {
        pen.text(trace.head.nodes[node]!.name, scale.x(x), scale.y(y) + radius + 8, colours.text, 10, "center", chosen);
      }
    });
    this.shown = shown;
    this.rule(pen, scale, colours);
  }

  /** The frame at a point of the picture, or the node there. */
  at(x: number, y: number): { frame: number } | { node: number } | null {
    const near = (px: number, py: number) => Math.hypot(px - x, py - y) < 14;
    const node = this.scale
      ? this.shown.places.findIndex(([mx, my]) => near(this.scale!.x(mx), this.scale!.y(my)))
      : -1;
    const hit = this.hits.find((each) => near(each.x, each.y));
    if (hit) return { frame: hit.frame };
    return node >= 0 ? { node } : null;
  }

  /** How many metres so many points of the picture are. */
  metres(points: number): number {
    return points / (this.scale?.size ?? 1);
  }

  private scaled(pen: Pen): Scale {
    const [left, bottom, right, top] = this.trace.area();
    const around = 40;
    const wide = Math.max(right - left, 1), high = Math.max(top - bottom, 1);
    const size = Math.max(Math.min((pen.width - 2 * around) / wide, (pen.height - 2 * around) / high), 1e-6) * this.zoom;
    const [cx, cy] = this.centre ?? [(left + right) / 2, (bottom + top) / 2];
    return { x: (m) => pen.width / 2 + (m - cx) * size, y: (m) => pen.height / 2 - (m - cy) * size, size };
  }

  private ranges(pen: Pen, scale: Scale, [x, y]: [number, number], colours: Palette): void {
    const { receive, sense } = this.trace.head.ranges;
    for (const [range, name, dash, row] of [[receive, "receives", [], 10], [sense, "senses", [6, 4], 24]] as const) {
      if (!(range > 0)) continue;
      const radius = range * scale.size;
      pen.circle(scale.x(x), scale.y(y), radius, null, colours.faint, 1, [...dash]);
      // Above its circle, or at the edge where the circle leaves the picture.
      const words = `${name} ${Math.round(range)} m`;
      const across = Math.max(words.length * 3, Math.min(pen.width - words.length * 3, scale.x(x)));
      pen.text(words, across, Math.max(row, scale.y(y) - radius - 7), colours.faint, 10, "center");
    }
  }

  private frames(pen: Pen, scale: Scale, chunk: Chunk, places: [number, number][], colours: Palette, now: Set<number>): void {
    const { frames } = chunk;
    const t = this.model.t;
    const { receive, sense } = this.trace.head.ranges;
    // A wave that has passed its range is off the map; the way takes microseconds.
    const way = sense / LIGHT;
    const [first, last] = chunk.rows(t - way, t + 1);
    for (let row = first; row < last; row++) {
      const start = chunk.t0 + frames.start[row]!, end = chunk.t0 + frames.end[row]!;
      if (end + way <= t) continue;
      const id = frames.frame[row]!;
      if (now.has(id) || !this.wanted(frames.flow[row]!)) continue;
      if (end > t) now.add(id);
      const [x, y] = places[frames.node[row]!]!;
      const colour = colours.flow(frames.flow[row]!);
      const outer = Math.min(sense, LIGHT * (t - start)), inner = Math.max(0, LIGHT * (t - end));
      const [px, py] = [scale.x(x), scale.y(y)];
      if (outer > inner) {
        pen.circle(px, py, Math.min(receive, outer) * scale.size, faded(colour, inner > 0 ? 0.06 : 0.13), colour, 1.2);
        pen.circle(px, py, outer * scale.size, null, faded(colour, 0.5), 1, [2, 3]);
        if (inner > 0) pen.circle(px, py, inner * scale.size, null, faded(colour, 0.5), 1);
      }
      if (end <= t) continue;
      const part = (t - start) / (end - start);
      const to = frames.dst[row]! >= 0 ? places[frames.dst[row]!] : undefined;
      const [qx, qy] = to ? [scale.x(to[0]), scale.y(to[1])] : [px, py - 26];
      const [gx, gy] = [px + (qx - px) * part, py + (qy - py) * part];
      if (to) pen.line([px, py, qx, qy], colour, 1.5, [3, 3]);
      if (to) pen.line([px, py, gx, gy], colour, 3);
      const kind = frameName(this.trace.head, frames, row);
      glyph(pen, shape(kind), gx, gy, 6, colour);
      pen.text(frames.retry[row]! > 0 ? `${kind} again` : kind, gx + 9, gy - 9, colour, 10);
      this.hits.push({ x: gx, y: gy, frame: id });
    }
  }

  private losses(
    pen: Pen, scale: Scale, chunk: Chunk, since: number, places: [number, number][], colours: Palette, shown: OnMap,
  ): void {
    const { receptions, frames } = chunk;
    for (const { row, frame, mine } of chunk.lostIn(since, this.model.t)) {
      // Played fast, there are thousands of those that cost nothing.
      if (!this.wanted(frames.flow[frame]!) || (!mine && this.model.t - since > BRIEF)) continue;
      const [x, y] = places[receptions.node[row]!]!;
      const [px, py] = [scale.x(x), scale.y(y)];
      // Losses at nodes that were not meant are shown small: they cost nothing.
      const size = mine ? 10 : 4;
      pen.line([px - size, py - size, px + size, py + size], colours.lost, mine ? 3 : 1.2);
      pen.line([px - size, py + size, px + size, py - size], colours.lost, mine ? 3 : 1.2);
      if (mine) {
        pen.text(this.trace.head.names.fate[receptions.fate[row]!]!, px, py - 18, colours.lost, 11, "center", true);
        shown.losses++;
        this.hits.push({ x: px, y: py, frame: receptions.frame[row]! });
      }
    }
  }

  private wanted(flow: number): boolean {
    return !this.model.only || flow === this.model.flow;
  }

  /** How long a round number of metres is. */
  private rule(pen: Pen, scale: Scale, colours: Palette): void {
    const rough = 100 / scale.size;
    const power = 10 ** Math.floor(Math.log10(rough));
    const metres = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.6) ?? power;
    const [x, y] = [12, pen.height - 14];
    pen.line([x, y - 4, x, y, x + metres * scale.size, y, x + metres * scale.size, y - 4], colours.faint, 1);
    pen.text(`${metres} m`, x + metres * scale.size + 6, y - 2, colours.faint, 10);
  }
}

export function glyph(pen: Pen, kind: Shape, x: number, y: number, size: number, fill: string): void {
  switch (kind) {
    case "circle": pen.circle(x, y, size, fill); break;
    case "square": pen.rect(x - size, y - size, 2 * size, 2 * size, fill); break;
    // Of what is under way as one, each answers for itself: three bars, and a ring that answers them.
    case "stack": for (const at of [-1, -0.25, 0.5]) pen.rect(x - size, y + at * size, 2 * size, 0.5 * size, fill); break;
    case "ring": pen.circle(x, y, 0.8 * size, null, fill, 0.5 * size); break;
    case "hollow": pen.line([x - size, y + size, x + size, y + size, x, y - size, x - size, y + size], fill, 0.35 * size); break;
    case "up": pen.polygon([x - size, y + size, x + size, y + size, x, y - size], fill); break;
    case "down": pen.polygon([x - size, y - size, x + size, y - size, x, y + size], fill); break;
    case "diamond": pen.polygon([x - size, y, x, y - size, x + size, y, x, y + size], fill); break;
  }
}
