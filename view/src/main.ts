// Puts the panels together and starts them.

import { Controls } from "./controls";
import { Details } from "./details";
import { Lanes } from "./lanes";
import { legend } from "./legend";
import { MapView } from "./map";
import { duration, Model, PANELS } from "./model";
import { shape } from "./palette";
import { CanvasPen, fitted } from "./pen";
import { Plots } from "./plots";
import { Sequence } from "./sequence";
import { Live, source } from "./source";
import { Trace } from "./trace";

const by = <T extends HTMLElement>(selector: string) => document.querySelector(selector) as T;

/** What is shown at first: wide enough for some exchanges, narrow enough to see each of them, and where the first frame is. */
function firstSpan(trace: Trace): [number, number] {
  const { chunks, span, opens } = trace.head;
  const width = Math.min(span[1] - span[0], Math.max(chunks.length, 1e8));
  // A little of the silence before it; a first frame that early is there anyway.
  const from = Math.max(span[0], Math.min(opens < span[0] + width / 2 ? span[0] : opens - width / 20, span[1] - width));
  return [from, from + width];
}

async function start(): Promise<void> {
  const from = source();
  const trace = await Trace.open(from);
  const { head } = trace;
  document.title = `${head.title} · fourhop view`;
  by("#title").textContent = head.title;
  const model = new Model(head.span);
  const map = new MapView(trace, model);
  const lanes = new Lanes(trace, model);
  const sequence = new Sequence(trace, model);
  const plots = new Plots(trace, model, by("#charts"));
  const details = new Details(trace, model, by("#facts"));
  const mapCanvas = by<HTMLCanvasElement>("#map canvas"), lanesCanvas = by<HTMLCanvasElement>("#lanes canvas");
  const sequenceCanvas = by<HTMLCanvasElement>("#sequence canvas");
  const timings = { frames: 0, milliseconds: 0, worst: 0, first: 0 };
  const about = () => {
    const counts = Object.entries(trace.head.counts).map(([name, count]) => `${count.toLocaleString("en")} ${name}`);
    by("#about").textContent = [head.profile, `seed ${head.seed}`, duration(trace.head.span[1] - trace.head.span[0]), ...counts].join(" · ");
  };
  const controls = new Controls(trace, model, { map, lanes, sequence, plots }, { mapCanvas, lanesCanvas, sequenceCanvas });
  let loaded = 0;
  // Only what is on the screen is drawn.
  const seen = new Set<string>(["map", "lanes"]);
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target.id);
    model.changed();
  });
  for (const id of ["map", "lanes", "sequence", "plots"]) watch.observe(by(`#${id}`));
  const draw = (): void => {
    const before = performance.now();
    for (const panel of PANELS) by(`#${panel}`).hidden = model.panels !== null && !model.panels.includes(panel);
    by("main").classList.toggle("single", ["#map", "#details"].some((panel) => by(panel).hidden !== false));
    if (mapCanvas.clientWidth > 0 && seen.has("map")) map.draw(fitted(mapCanvas, 300));
    // On a narrow screen these two are not shown.
    if (lanesCanvas.clientWidth > 0 && seen.has("lanes")) lanes.show(fitted(lanesCanvas, lanes.height()));
    if (sequenceCanvas.clientWidth > 0 && seen.has("sequence")) sequence.show(fitted(sequenceCanvas, sequence.height()), loaded);
    if (seen.has("plots")) plots.draw();
    void details.draw();
    controls.show();
    const spent = performance.now() - before;
    timings.frames++;
    timings.milliseconds += spent;
    timings.worst = Math.max(timings.worst, spent);
    if (!timings.first) timings.first = performance.now();
  };
  trace.onload = () => {
    loaded++;
    lanes.renew(head.live);
    model.changed();
  };
  model.onchange(draw);
  new ResizeObserver(() => model.changed()).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    controls.scheme(null);
    model.changed();
  });
  controls.scheme(null);
  legend(head, by("#legend"), by("#states"));
  about();
  model.window(...firstSpan(trace));
  model.t = model.from;
  if (head.flows.length === 0) model.flow = -1;
  model.take(location.hash, head.nodes.length, head.flows.length);
  addEventListener("hashchange", () => model.take(location.hash, head.nodes.length, head.flows.length));
  if (from instanceof Live) {
    controls.live();
    model.window(...head.span);
    from.onhead = (next, renewed) => {
      // As wide as it was; who has all there is sees the last ten seconds come.
      const all = model.width >= model.span[1] - model.span[0];
      const width = all ? Math.min(1e10, next.span[1] - next.span[0]) : model.width;
      model.span = next.span;
      void trace.renew(next, renewed).then(() => {
        about();
        controls.flows();
        if (!model.follow) return;
        model.t = next.span[1];
        model.window(next.span[1] - width, next.span[1]);
      });
    };
    from.onend = () => controls.say("The emulation has ended, or the connection to it.");
  }
  draw();
  void trace.whole();
  const canvasPen = (to: CanvasRenderingContext2D, width: number, height: number) => new CanvasPen(to, width, height);
  // What tests and scripts read: what was drawn, how long it took.
  Object.assign(window, { fourhop: { trace, model, map, lanes, sequence, plots, controls, timings, shape, pen: canvasPen } });
}

start().catch((error: unknown) => {
  by("#say").textContent = `This trace cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  throw error;
});
