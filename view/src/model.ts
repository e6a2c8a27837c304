// The state of the view: one time axis for all panels, the current time, the selection. The page's address encodes all
// of it.

export interface Selected { kind: "frame" | "packet"; id: number }

/** Simulated seconds per second. */
export const SPEEDS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10];

export const PANELS = ["map", "details", "lanes", "sequence", "plots"];

export class Model {
  /** The current time, which the map shows, and the span of the time axis. */
  t: number;
  from: number;
  to: number;
  playing = false;
  speed = 1e-2;
  /** The flow in sequence diagram and plots; `only` hides other flows from map and time lines. */
  flow = 0;
  only = false;
  /** The nodes with time lines; null: all. */
  nodes: number[] | null = null;
  /** The node that keys act on in the time lines. */
  node = 0;
  selected: Selected | null = null;
  /** The visible panels by name; null: all. Only an address sets it, for pages that embed this one. */
  panels: string[] | null = null;
  /** A live view follows the trace. */
  follow = false;
  private readonly listeners: (() => void)[] = [];
  private pending = false;

  constructor(public span: [number, number]) {
    this.t = span[0];
    [this.from, this.to] = span;
  }

  onchange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Requests one redraw, however much has changed. */
  changed(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      for (const listener of this.listeners) listener();
    });
  }

  get width(): number {
    return this.to - this.from;
  }

  seek(t: number): void {
    this.t = Math.max(this.span[0], Math.min(this.span[1], t));
    if (this.t < this.from || this.t > this.to) this.window(this.t - this.width * 0.3, this.t + this.width * 0.7);
    this.changed();
  }

  /** Shows a span, kept within the run and no narrower than a microsecond. */
  window(from: number, to: number): void {
    const [first, last] = this.span;
    const width = Math.max(1000, Math.min(last - first, to - from));
    const begin = Math.max(first, Math.min(last - width, from + (to - from - width) / 2));
    this.from = begin;
    this.to = begin + width;
    this.changed();
  }

  /** Zooms about a time, which stays where it is. */
  zoom(factor: number, about: number): void {
    this.window(about - (about - this.from) * factor, about + (this.to - about) * factor);
  }

  pan(part: number): void {
    const by = Math.max(this.span[0] - this.from, Math.min(this.span[1] - this.to, this.width * part));
    this.window(this.from + by, this.to + by);
  }

  /** The view as the part of an address after `#`. */
  address(): string {
    const parts = [`t=${Math.round(this.t)}`, `from=${Math.round(this.from)}`, `to=${Math.round(this.to)}`, `flow=${this.flow}`];
    if (this.only) parts.push("only=1");
    if (this.nodes) parts.push(`nodes=${this.nodes.join(",")}`);
    parts.push(`speed=${this.speed}`);
    if (this.panels) parts.push(`show=${this.panels.join(",")}`);
    if (this.selected) parts.push(`${this.selected.kind}=${this.selected.id}`);
    return parts.join("&");
  }

  /** Applies an address; whatever it omits stays as it is. */
  take(address: string, nodes: number, flows: number): void {
    const said = new URLSearchParams(address.replace(/^#/, ""));
    const number = (key: string): number | null => {
      const text = said.get(key);
      return text === null || text === "" || !Number.isFinite(Number(text)) ? null : Number(text);
    };
    const from = number("from"), to = number("to"), t = number("t"), flow = number("flow"), speed = number("speed");
    if (from !== null && to !== null && to > from) this.window(from, to);
    if (t !== null) this.seek(t);
    if (flow !== null && Number.isInteger(flow) && flow >= 0 && flow < flows) this.flow = flow;
    if (speed !== null && SPEEDS.includes(speed)) this.speed = speed;
    this.only = said.get("only") === "1";
    const list = said.get("nodes")?.split(",").map(Number).filter((node) => Number.isInteger(node) && node >= 0 && node < nodes);
    this.nodes = list?.length ? list : null;
    // A link in an embedding page only moves the view.
    if (said.has("show")) this.panels = said.get("show")!.split(",").filter((each) => PANELS.includes(each));
    const frame = number("frame"), packet = number("packet");
    if (frame !== null) this.selected = { kind: "frame", id: frame };
    else if (packet !== null) this.selected = { kind: "packet", id: packet };
    else this.selected = null;
    this.changed();
  }
}

/** A length of time with a unit that suits it. */
export function duration(ns: number): string {
  const size = Math.abs(ns);
  const short = (value: number) => String(Number(value.toPrecision(4)));
  if (size >= 1e9) return `${short(ns / 1e9)} s`;
  if (size >= 1e6) return `${short(ns / 1e6)} ms`;
  if (size >= 1e3) return `${short(ns / 1e3)} µs`;
  return `${short(ns)} ns`;
}

/** A time, with as many digits as a span of this width needs. */
export function instant(ns: number, width: number): string {
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.max(width, 1) / 1e9)) + 3));
  return (ns / 1e9).toFixed(digits);
}

/** Round steps for the marks of an axis: 1, 2 or 5 times a power of ten. */
export function marks(from: number, to: number, most: number): number[] {
  const rough = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const found: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
  return found;
}
