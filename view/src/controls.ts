// Buttons, keys and the mouse. Every action has a key.

import { png, save, svg } from "./export";
import { LEFT, type Lanes } from "./lanes";
import { legend } from "./legend";
import type { MapView } from "./map";
import { duration, instant, type Model, SPEEDS } from "./model";
import type { Pen } from "./pen";
import { palette } from "./palette";
import type { Plots } from "./plots";
import type { Run } from "./run";
import type { Sequence } from "./sequence";
import { DROP, LOSS, ROUTE, TIMEOUT, type Trace } from "./trace";

const STEPS: Record<string, number> = { loss: LOSS, drop: DROP, timeout: TIMEOUT, route: ROUTE };
const WORDS = ["loss", "drop", "timeout", "route change"];
/** The narrowest span: a single frame exchange fills it. */
const NEAR = 3e7;

interface Panels { run: Run; map: MapView; lanes: Lanes; sequence: Sequence; plots: Plots }
interface Canvases { runCanvas: HTMLCanvasElement; mapCanvas: HTMLCanvasElement; lanesCanvas: HTMLCanvasElement; sequenceCanvas: HTMLCanvasElement }

const by = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

/** Nodes from "0-7,12"; null for all. */
export function nodeList(text: string, count: number): number[] | null {
  const found = text.split(",").flatMap((part) => {
    const [, from, to] = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part) ?? [];
    if (from === undefined) return [];
    const [first, last] = [Number(from), Math.min(Number(to ?? from), count - 1)];
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  });
  return found.length ? [...new Set(found)].sort((one, other) => one - other) : null;
}

export class Controls {
  private last = 0;
  private hash = "";
  private telling = 0;

  constructor(private readonly trace: Trace, private readonly model: Model, private readonly panels: Panels, private readonly canvases: Canvases) {
    const speeds = by<HTMLSelectElement>("speed"), flows = by<HTMLSelectElement>("flow");
    for (const speed of SPEEDS) speeds.add(new Option(`${duration(speed * 1e9)}/s`, String(speed)));
    this.flows();
    const on = (id: string, event: string, what: () => void) => by(id).addEventListener(event, what);
    on("play", "click", () => this.play());
    on("speed", "change", () => this.set(() => (model.speed = Number(speeds.value))));
    on("flow", "change", () => this.set(() => (model.flow = Number(flows.value))));
    on("only", "change", () => this.set(() => (model.only = by<HTMLInputElement>("only").checked)));
    on("nodes", "change", () => this.set(() => (model.nodes = nodeList(by<HTMLInputElement>("nodes").value, trace.head.nodes.length))));
    on("time", "change", () => {
      const seconds = Number(by<HTMLInputElement>("time").value.replace(",", "."));
      if (Number.isFinite(seconds)) model.seek(Math.round(seconds * 1e9));
    });
    on("in", "click", () => model.zoom(0.5, this.about()));
    on("out", "click", () => model.zoom(2, this.about()));
    on("all", "click", () => model.window(...model.span));
    on("svg", "click", () => void this.save(false));
    on("png", "click", () => void this.save(true));
    on("link", "click", () => void this.copy());
    on("scheme", "click", () => this.scheme(!palette().dark));
    on("help", "click", () => by<HTMLDialogElement>("keys").showModal());
    for (const button of document.querySelectorAll<HTMLElement>("[data-step]")) {
      button.addEventListener("click", (event) => void this.step(STEPS[button.dataset["step"]!]!, !event.shiftKey));
    }
    addEventListener("keydown", (event) => this.key(event));
    this.axis(canvases.lanesCanvas, (x, y) => {
      const { node, t, frame } = panels.lanes.at(x, y);
      if (node !== null) model.node = node;
      if (frame !== null) model.selected = { kind: "frame", id: frame };
      model.seek(Math.round(t));
    });
    this.axis(canvases.sequenceCanvas, (x, y) => {
      const frame = panels.sequence.at(x, y);
      if (frame !== null) model.selected = { kind: "frame", id: frame };
      model.seek(Math.round(model.from + ((x - LEFT) / (canvases.sequenceCanvas.clientWidth - LEFT)) * model.width));
    });
    this.mapMouse();
    this.scrub();
    this.letGo();
  }

  /** A button clicked with the mouse gives up the focus, so that Space plays. Focus set by Tab stays. */
  private letGo(): void {
    const bar = by("bar");
    let pointed = false;
    bar.addEventListener("pointerdown", () => (pointed = true));
    bar.addEventListener("keydown", () => (pointed = false));
    bar.addEventListener("click", (event) => {
      const target = event.target as HTMLElement;
      if (event.detail > 0) target.closest<HTMLElement>("button, input[type=checkbox]")?.blur();
    });
    bar.addEventListener("change", (event) => {
      if (pointed && (event.target as HTMLElement).matches("select")) (event.target as HTMLElement).blur();
    });
  }

  /** Dragging on the strip of the whole run moves the current time. */
  private scrub(): void {
    const { runCanvas } = this.canvases;
    const { model, panels } = this;
    const go = (event: PointerEvent) => {
      model.playing &&= model.follow;
      const t = Math.round(panels.run.at(event.offsetX, runCanvas.clientWidth));
      // The span follows, with the current time in its middle.
      if (t < model.from || t > model.to) model.window(t - model.width / 2, t + model.width / 2);
      model.seek(t);
    };
    runCanvas.addEventListener("pointerdown", (event) => {
      runCanvas.setPointerCapture(event.pointerId);
      go(event);
    });
    runCanvas.addEventListener("pointermove", (event) => {
      if (runCanvas.hasPointerCapture(event.pointerId)) go(event);
    });
  }

  /** Fills the list of flows; flows of programs appear while an emulation runs. */
  flows(): void {
    const { model, trace } = this;
    const list = by<HTMLSelectElement>("flow");
    if (list.length === trace.head.flows.length) return;
    list.replaceChildren(...trace.head.flows.map((flow, at) => new Option(flow.name, String(at))));
    if (model.flow < 0 && trace.head.flows.length > 0) model.flow = 0;
    legend(trace.head, trace.paths, by("legend"), by("states"));
  }

  say(text: string): void {
    by("say").textContent = text;
  }

  /** Updates buttons and the address. */
  show(): void {
    const { model } = this;
    const put = (id: string, value: string) => {
      const element = by<HTMLInputElement>(id);
      if (element.value !== value && document.activeElement !== element) element.value = value;
    };
    const say = (id: string, value: string) => {
      if (by(id).textContent !== value) by(id).textContent = value;
    };
    say("play", model.playing ? "■ Stop" : "▶ Play");
    by("play").setAttribute("aria-pressed", String(model.playing));
    by<HTMLSelectElement>("speed").value = String(model.speed);
    by<HTMLSelectElement>("flow").value = String(model.flow);
    by<HTMLInputElement>("only").checked = model.only;
    put("time", instant(model.t, Math.min(model.width, 1e6)));
    put("nodes", model.nodes?.join(",") ?? "");
    const strip = this.canvases.runCanvas;
    strip.setAttribute("aria-valuenow", (model.t / 1e9).toFixed(6));
    strip.setAttribute("aria-valuemin", String(model.span[0] / 1e9));
    strip.setAttribute("aria-valuemax", String(model.span[1] / 1e9));
    strip.setAttribute("aria-valuetext", `${instant(model.t, 1e6)} s`);
    say("span", `(${duration(model.width)} shown)`);
    if (this.trace.trouble) this.say(this.trace.trouble);
    // Browsers refuse an address that changes with every frame drawn.
    clearTimeout(this.telling);
    this.telling = window.setTimeout(() => this.tell(), 150);
  }

  /** The view as the page's address. */
  private tell(): void {
    if (this.model.playing || this.model.address() === this.hash) return;
    this.hash = this.model.address();
    try {
      history.replaceState(null, "", `#${this.hash}`);
    } catch {
      // An embedded page may not be allowed to; the link button still works.
    }
  }

  live(): void {
    this.model.follow = true;
    by("play").title = "Follow the live trace, or pause (Space)";
  }

  /** Light or dark; null: the system's setting. */
  scheme(dark: boolean | null): void {
    const root = document.documentElement;
    const chosen = dark ?? matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset["scheme"] = chosen ? "dark" : "light";
    legend(this.trace.head, this.trace.paths, by("legend"), by("states"));
    this.model.changed();
  }

  play(): void {
    const { model } = this;
    if (document.documentElement.dataset["live"] === "yes") model.follow = !model.follow;
    model.playing = document.documentElement.dataset["live"] === "yes" ? model.follow : !model.playing;
    if (model.playing && !model.follow) {
      if (model.t >= model.span[1]) model.t = model.span[0];
      this.last = performance.now();
      requestAnimationFrame((now) => this.tick(now));
    }
    model.changed();
  }

  private tick(now: number): void {
    const { model } = this;
    if (!model.playing || model.follow) return;
    // After a slow frame, time does not jump.
    const passed = Math.min(now - this.last, 100);
    this.last = now;
    model.t = Math.min(model.span[1], model.t + passed * 1e6 * model.speed);
    // The axis stays until the current time leaves it, then turns a page.
    if (model.t < model.from || model.t > model.from + 0.95 * model.width) {
      const from = model.t - 0.05 * model.width;
      model.window(from, from + model.width);
    }
    if (model.t >= model.span[1]) model.playing = false;
    model.changed();
    // Read ahead.
    void this.trace.load(this.trace.chunkOf(model.t + this.trace.head.chunks.length));
    requestAnimationFrame((next) => this.tick(next));
  }

  async step(what: number, forward: boolean): Promise<void> {
    const { model, trace } = this;
    await trace.whole();
    const at = trace.step([what], model.t, forward, model.only ? model.flow : -1);
    if (at === null) {
      this.say(`No ${forward ? "later" : "earlier"} ${WORDS[what]} in this trace.`);
      return;
    }
    const { events, head } = trace;
    const time = events.time[at]!, node = events.node[at]!, reason = events.reason[at]!;
    model.playing = false;
    if (node >= 0) model.node = node;
    if (model.width > 20 * NEAR) model.window(time - NEAR / 2, time + NEAR / 2);
    if (what === LOSS) model.selected = { kind: "frame", id: events.ref[at]! };
    else if (events.ref[at]! >= 0) model.selected = { kind: "packet", id: events.ref[at]! };
    model.seek(time);
    const names = what === LOSS ? head.names.fate : head.names.reason;
    const flow = events.flow[at]! >= 0 ? `, ${head.flows[events.flow[at]!]!.name}` : "";
    this.say(`${WORDS[what]![0]!.toUpperCase()}${WORDS[what]!.slice(1)} at ${node >= 0 ? head.nodes[node]!.name : "?"}, ` +
      `${instant(time, 1e6)} s${reason >= 0 ? `: ${names[reason]!}` : ""}${flow}.`);
  }

  /** The next or previous frame of the chosen node. */
  private async frame(forward: boolean): Promise<void> {
    const { model, trace } = this;
    for (let at = trace.chunkOf(model.t), tried = 0; at >= 0 && at < trace.head.chunks.rows.length && tried < 50; at += forward ? 1 : -1, tried++) {
      const chunk = await trace.load(at);
      if (!chunk) continue;
      let best = -1, start = forward ? Infinity : -Infinity;
      for (let row = 0; row < chunk.frames.rows; row++) {
        const time = chunk.t0 + chunk.frames.start[row]!;
        if (chunk.frames.node[row] !== model.node || (forward ? time <= model.t || time >= start : time >= model.t || time <= start)) continue;
        [best, start] = [chunk.frames.frame[row]!, time];
      }
      if (best >= 0) {
        model.selected = { kind: "frame", id: best };
        model.seek(start);
        return;
      }
    }
    this.say(`${trace.head.nodes[model.node]!.name} sends no ${forward ? "later" : "earlier"} frame near this time.`);
  }

  private async packet(): Promise<void> {
    const { model, trace } = this;
    if (model.selected?.kind !== "frame") return;
    const { chunks } = trace.within(model.t, model.t);
    for (const { frames } of chunks) {
      const row = frames.frame.indexOf(model.selected.id);
      if (row >= 0 && frames.packet[row]! >= 0) this.set(() => (model.selected = { kind: "packet", id: frames.packet[row]! }));
    }
  }

  /** The fixed point of zooming by key: the current time, if it is visible. */
  private about(): number {
    const { t, from, to } = this.model;
    return t >= from && t <= to ? t : (from + to) / 2;
  }

  private set(change: () => void): void {
    change();
    this.model.changed();
  }

  private key(event: KeyboardEvent): void {
    const { model } = this;
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("dialog")) return;
    if (target.matches("input:not([type=checkbox])")) {
      if (event.key === "Enter" || event.key === "Escape") target.blur();
      return;
    }
    if (target.matches("select") && /^(Arrow|Page|Home|End|[a-z ]$)/.test(event.key)) return;
    if (target.matches("button, input") && (event.key === " " || event.key === "Enter")) return;
    if (target.id === "facts" && /^(Arrow(Up|Down)|Page)/.test(event.key)) return;
    const onRun = target === this.canvases.runCanvas;
    const small = (onRun ? model.span[1] - model.span[0] : model.width) / (event.shiftKey ? 10 : 100);
    const { map } = this.panels;
    const onMap = target === this.canvases.mapCanvas;
    const nodes = this.panels.lanes.nodes();
    const keys: Record<string, () => void> = {
      " ": () => this.play(),
      "[": () => this.set(() => (model.speed = SPEEDS[Math.max(0, SPEEDS.indexOf(model.speed) - 1)]!)),
      "]": () => this.set(() => (model.speed = SPEEDS[Math.min(SPEEDS.length - 1, SPEEDS.indexOf(model.speed) + 1)]!)),
      ArrowLeft: () => model.seek(Math.round(model.t - small)),
      ArrowRight: () => model.seek(Math.round(model.t + small)),
      PageUp: () => model.pan(-0.5),
      PageDown: () => model.pan(0.5),
      "+": () => (onMap ? this.set(() => (map.zoom = Math.min(64, map.zoom * 1.4))) : model.zoom(0.5, this.about())),
      "-": () => (onMap ? this.set(() => (map.zoom = Math.max(1, map.zoom / 1.4))) : model.zoom(2, this.about())),
      "0": () => (onMap ? this.set(() => ([map.zoom, map.centre] = [1, null])) : model.window(...model.span)),
      Home: () => model.seek(model.span[0]),
      End: () => model.seek(model.span[1]),
      ArrowUp: () => this.set(() => (model.node = nodes[Math.max(0, nodes.indexOf(model.node) - 1)]!)),
      ArrowDown: () => this.set(() => (model.node = nodes[Math.min(nodes.length - 1, nodes.indexOf(model.node) + 1)]!)),
      ".": () => void this.frame(true),
      ",": () => void this.frame(false),
      p: () => void this.packet(),
      Escape: () => this.set(() => (model.selected = null)),
      f: () => this.set(() => (model.flow = (model.flow + 1) % Math.max(1, this.trace.head.flows.length))),
      o: () => this.set(() => (model.only = !model.only)),
      g: () => by<HTMLInputElement>("time").select(),
      e: () => void this.save(event.shiftKey),
      c: () => void this.copy(),
      b: () => this.scheme(!palette().dark),
      "?": () => by<HTMLDialogElement>("keys").showModal(),
      l: () => void this.step(LOSS, !event.shiftKey),
      d: () => void this.step(DROP, !event.shiftKey),
      t: () => void this.step(TIMEOUT, !event.shiftKey),
      r: () => void this.step(ROUTE, !event.shiftKey),
    };
    keys["="] = keys["+"]!;
    const what = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!what) return;
    event.preventDefault();
    what();
  }

  /** Wheel zooms, dragging moves, a click chooses. */
  private axis(canvas: HTMLCanvasElement, click: (x: number, y: number) => void): void {
    const { model } = this;
    const time = (x: number) => model.from + ((x - LEFT) / (canvas.clientWidth - LEFT)) * model.width;
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && Math.abs(event.deltaX) < Math.abs(event.deltaY) && !event.shiftKey && document.activeElement !== canvas) return;
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) model.pan((event.deltaX || event.deltaY) / 1000);
      else model.zoom(1.0015 ** event.deltaY, time(event.offsetX));
    }, { passive: false });
    this.drag(canvas, (dx) => model.pan(-dx / (canvas.clientWidth - LEFT)), click);
  }

  private mapMouse(): void {
    const { mapCanvas } = this.canvases;
    const { map } = this.panels;
    const { model, trace } = this;
    mapCanvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== mapCanvas) return;
      event.preventDefault();
      this.set(() => (map.zoom = Math.max(1, Math.min(64, map.zoom * 0.998 ** event.deltaY))));
    }, { passive: false });
    this.drag(mapCanvas, (dx, dy) => {
      const [left, bottom, right, top] = trace.area();
      const [x, y] = map.centre ?? [(left + right) / 2, (bottom + top) / 2];
      const metres = map.metres(1);
      this.set(() => (map.centre = [x - dx * metres, y + dy * metres]));
    }, (x, y) => {
      const hit = map.at(x, y);
      if (!hit) return;
      this.set(() => ("frame" in hit ? (model.selected = { kind: "frame", id: hit.frame }) : (model.node = hit.node)));
    });
  }

  private drag(canvas: HTMLCanvasElement, move: (dx: number, dy: number) => void, click: (x: number, y: number) => void): void {
    let moved = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!canvas.hasPointerCapture(event.pointerId)) return;
      moved += Math.abs(event.movementX) + Math.abs(event.movementY);
      if (moved > 4) move(event.movementX, event.movementY);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (moved <= 4) click(event.offsetX, event.offsetY);
    });
  }

  private async copy(): Promise<void> {
    const link = `${location.href.split("#")[0]}#${this.model.address()}`;
    try {
      await navigator.clipboard.writeText(link);
      this.say("Link to this view copied.");
    } catch {
      this.say(link);
    }
  }

  /** The chosen panel as it is on the screen. */
  picture(): { name: string; width: number; height: number; text: string } {
    const { map, lanes, sequence, plots } = this.panels;
    const name = by<HTMLSelectElement>("what").value;
    const width = Math.max(320, name === "map" ? this.canvases.mapCanvas.clientWidth : by("plots").clientWidth);
    const of: Record<string, [number, (pen: Pen) => void]> = {
      map: [this.canvases.mapCanvas.clientHeight, (pen) => map.draw(pen)],
      lanes: [lanes.height(), (pen) => lanes.draw(pen)],
      sequence: [sequence.height(), (pen) => sequence.draw(pen)],
      plots: [plots.height(), (pen) => plots.drawWith(pen)],
    };
    const [height, draw] = of[name]!;
    return { name, width, height, text: svg(width, height, draw) };
  }

  /** A panel as PNG. */
  async pngOf(name: string): Promise<Blob> {
    by<HTMLSelectElement>("what").value = name;
    const { width, height, text } = this.picture();
    return png(text, width, height);
  }

  private async save(asPng: boolean): Promise<void> {
    const { name, text } = this.picture();
    const blob = asPng ? await this.pngOf(name) : new Blob([text], { type: "image/svg+xml" });
    const file = `fourhop-${name}-${instant(this.model.t, 1e6)}s.${asPng ? "png" : "svg"}`;
    save(file, blob);
    this.say(`Saved as ${file}.`);
  }
}
