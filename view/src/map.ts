// The map: nodes with their ranges, frames as they spread, losses with reasons, walls.

import type { Chunk } from "./chunk";
import { placed } from "./labels";
import type { Model } from "./model";
import { frameName } from "./names";
import { faded, palette, shape, type Palette, type Shape } from "./palette";
import type { Pen } from "./pen";
import type { Trace } from "./trace";

/** Metres per nanosecond. */
const LIGHT = 0.299792458;
/** How long a loss stays on the map, in real seconds. */
const FADE = 0.6;
/** In spans up to this many nanoseconds, losses at other nodes than the destination are shown, too. */
const BRIEF = 2e7;
/** Maximum number of flows for which all routes are drawn. */
const MOST_ROUTES = 100;

export interface OnMap {
  /** Frames on the air at the current time, losses shown, and each node's position in metres. */
  frames: number[];
  losses: number;
  places: [number, number][];
  /** Number of links drawn, nodes on the chosen flow's route, and names with room. */
  links: number;
  route: number[];
  names: string[];
}

interface Scale { x(metres: number): number; y(metres: number): number; size: number }

export class MapView {
  /** What was last drawn, for a click and for tests. */
  shown: OnMap = { frames: [], losses: 0, places: [], links: 0, route: [], names: [] };
  private hits: { x: number; y: number; frame: number }[] = [];
  private scale: Scale | null = null;
  private labels: { key: string; placed: ReturnType<typeof placed> } = { key: "", placed: [] };
  /** Magnification of the whole area, about a point in metres. */
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
    const shown: OnMap = { frames: [], losses: 0, places, links: 0, route: [], names: [] };
    this.links(pen, scale, places, colours, shown);
    this.routes(pen, scale, places, colours, shown);
    if (trace.head.nodes[model.node]?.radio) this.ranges(pen, scale, places[model.node]!, colours);
    const seconds = FADE * 1e9 * model.speed;
    const since = Math.max(model.span[0], t - Math.max(Math.min(seconds, 4 * trace.head.chunks.length), 1e5));
    const { chunks } = trace.within(since, t);
    const now = new Set<number>();
    for (const chunk of chunks) this.frames(pen, scale, chunk, places, colours, now);
    const reasons = new Map<number, string>();
    for (const chunk of chunks) this.losses(pen, scale, chunk, since, places, colours, shown, reasons);
    shown.frames = [...now];
    const radius = places.length > 60 ? 4 : 6;
    const route = new Set(shown.route);
    const drawn = places.flatMap(([x, y], node) => (Number.isNaN(x) ? [] : [{ node, x: scale.x(x), y: scale.y(y) }]));
    for (const { node, x, y } of drawn) {
      const chosen = node === model.node;
      const [edge, width] = [chosen ? colours.selected : colours.faint, chosen ? 2.5 : 1.5];
      if (trace.head.nodes[node]!.gateway) square(pen, x, y, radius + 1, colours.panel, chosen ? colours.selected : colours.text, width + 0.5);
      else pen.circle(x, y, radius, colours.panel, edge, width);
    }
    // Names in order of priority: chosen node, route, gateways, then all that have room.
    const rank = (node: number) => (node === model.node ? 0 : route.has(node) || trace.head.nodes[node]!.gateway ? 1 : 2);
    drawn.sort((one, other) => rank(one.node) - rank(other.node) || one.node - other.node);
    const labelled = drawn.map(({ node, x, y }) => ({ name: trace.head.nodes[node]!.name, x, y, radius, first: node === model.node }));
    // Placing names takes longer than drawing: only after a node or the map has moved.
    const key = [pen.width, pen.height, ...labelled.flatMap(({ name, x, y }) => [name, Math.round(x), Math.round(y)])].join();
    if (key !== this.labels.key) this.labels = { key, placed: placed(labelled, pen) };
    for (const { at, x, y } of this.labels.placed) {
      const { name, first } = labelled[at]!;
      pen.text(name, x, y, colours.text, 10, "center", first);
      shown.names.push(name);
    }
    // If a node lost several frames, show the reason of the last.
    for (const [node, reason] of reasons) {
      pen.text(reason, scale.x(places[node]![0]), scale.y(places[node]![1]) - 18, colours.lost, 11, "center", true);
    }
    this.shown = shown;
    this.rule(pen, scale, colours);
  }

  /** The frame at a point of the picture, or the node there. */
  at(x: number, y: number): { frame: number } | { node: number } | null {
    const near = (px: number, py: number) => Math.hypot(px - x, py - y) < 14;
    const node = this.scale
      ? this.shown.places.findIndex(([mx, my]) => !Number.isNaN(mx) && near(this.scale!.x(mx), this.scale!.y(my)))
      : -1;
    const hit = this.hits.find((each) => near(each.x, each.y));
    if (hit) return { frame: hit.frame };
    return node >= 0 ? { node } : null;
  }

  /** The length of `points` points of the picture, in metres. */
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
    for (const [range, name, dash, above] of [[receive, "receives", [], true], [sense, "senses", [6, 4], false]] as const) {
      if (!(range > 0)) continue;
      const radius = range * scale.size;
      pen.circle(scale.x(x), scale.y(y), radius, null, colours.faint, 1, [...dash]);
      // At the top and the bottom of the circles, or at the edge where a circle leaves the picture.
      const words = `${name} ${Math.round(range)} m`;
      const across = Math.max(words.length * 3, Math.min(pen.width - words.length * 3, scale.x(x)));
      const down = above ? Math.max(10, scale.y(y) - radius - 7) : Math.min(pen.height - 30, scale.y(y) + radius + 9);
      pen.text(words, across, down, colours.faint, 10, "center");
    }
  }

  private links(pen: Pen, scale: Scale, places: [number, number][], colours: Palette, shown: OnMap): void {
    for (const [a, b, margin, both] of this.trace.head.links) {
      const [from, to] = [places[a]!, places[b]!];
      // Weak links are faint.
      const colour = faded(colours.link, margin < 5 ? 0.3 : margin < 10 ? 0.55 : 0.9);
      pen.line([scale.x(from[0]), scale.y(from[1]), scale.x(to[0]), scale.y(to[1])], colour, 1, both ? [] : [3, 3]);
      shown.links++;
    }
  }

  /** The routes at the current time: the chosen flow's path wide, others narrow. */
  private routes(pen: Pen, scale: Scale, places: [number, number][], colours: Palette, shown: OnMap): void {
    const { head, paths } = this.trace;
    const { flow: chosen, t, only } = this.model;
    const drawn = new Set<string>();
    const order = head.flows.length <= MOST_ROUTES && !only ? head.flows.map((_, at) => at).filter((at) => at !== chosen) : [];
    for (const flow of [...order, chosen]) {
      if (flow < 0) continue;
      const path = paths.ofFlow(flow, t).filter((node) => !Number.isNaN(places[node]![0]));
      const mine = flow === chosen;
      if (mine) shown.route = path;
      for (let at = 1; at < path.length; at++) {
        const [one, other] = [path[at - 1]!, path[at]!];
        const key = [Math.min(one, other), Math.max(one, other)].join();
        if (!mine && drawn.has(key)) continue;
        drawn.add(key);
        const [from, to] = [places[one]!, places[other]!];
        pen.line([scale.x(from[0]), scale.y(from[1]), scale.x(to[0]), scale.y(to[1])], faded(colours.flow(flow), mine ? 0.45 : 0.4), mine ? 6 : 2);
      }
    }
  }

  private frames(pen: Pen, scale: Scale, chunk: Chunk, places: [number, number][], colours: Palette, now: Set<number>): void {
    const { frames } = chunk;
    const t = this.model.t;
    const { receive, sense } = this.trace.head.ranges;
    // A wave beyond its range is no longer drawn; getting there takes microseconds.
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
    reasons: Map<number, string>,
  ): void {
    const { receptions, frames } = chunk;
    for (const { row, frame, mine } of chunk.lostIn(since, this.model.t)) {
      // At high speed, there are thousands of harmless losses.
      if (!this.wanted(frames.flow[frame]!) || (!mine && this.model.t - since > BRIEF)) continue;
      const [x, y] = places[receptions.node[row]!]!;
      const [px, py] = [scale.x(x), scale.y(y)];
      // Losses at other nodes than the destination are harmless: shown small.
      const size = mine ? 10 : 4;
      pen.line([px - size, py - size, px + size, py + size], colours.lost, mine ? 3 : 1.2);
      pen.line([px - size, py + size, px + size, py - size], colours.lost, mine ? 3 : 1.2);
      if (mine) {
        reasons.set(receptions.node[row]!, this.trace.head.names.fate[receptions.fate[row]!]!);
        shown.losses++;
        this.hits.push({ x: px, y: py, frame: receptions.frame[row]! });
      }
    }
  }

  private wanted(flow: number): boolean {
    return !this.model.only || flow === this.model.flow;
  }

  /** The scale: a round number of metres. */
  private rule(pen: Pen, scale: Scale, colours: Palette): void {
    const rough = 100 / scale.size;
    const power = 10 ** Math.floor(Math.log10(rough));
    const metres = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.6) ?? power;
    const [x, y] = [12, pen.height - 14];
    pen.line([x, y - 4, x, y, x + metres * scale.size, y, x + metres * scale.size, y - 4], colours.faint, 1);
    pen.text(`${metres} m`, x + metres * scale.size + 6, y - 2, colours.faint, 10);
  }
}

/** A gateway. */
export function square(pen: Pen, x: number, y: number, size: number, fill: string, stroke: string, width = 1.5): void {
  pen.rect(x - size, y - size, 2 * size, 2 * size, stroke);
  pen.rect(x - size + width, y - size + width, 2 * (size - width), 2 * (size - width), fill);
}

export function glyph(pen: Pen, kind: Shape, x: number, y: number, size: number, fill: string): void {
  switch (kind) {
    case "circle": pen.circle(x, y, size, fill); break;
    case "square": pen.rect(x - size, y - size, 2 * size, 2 * size, fill); break;
    // An aggregate is three bars, since each MPDU is acknowledged by itself; a block ACK is a ring.
    case "stack": for (const at of [-1, -0.25, 0.5]) pen.rect(x - size, y + at * size, 2 * size, 0.5 * size, fill); break;
    case "ring": pen.circle(x, y, 0.8 * size, null, fill, 0.5 * size); break;
    case "hollow": pen.line([x - size, y + size, x + size, y + size, x, y - size, x - size, y + size], fill, 0.35 * size); break;
    case "up": pen.polygon([x - size, y + size, x + size, y + size, x, y - size], fill); break;
    case "down": pen.polygon([x - size, y - size, x + size, y - size, x, y + size], fill); break;
    case "diamond": pen.polygon([x - size, y, x, y - size, x + size, y, x, y + size], fill); break;
  }
}
