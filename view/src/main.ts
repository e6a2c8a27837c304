// Puts the panels together and starts them.

import { Controls } from "./controls";
import { Details } from "./details";
import { Lanes } from "./lanes";
import { legend } from "./legend";
import { MapView } from "./map";
import { duration, Model, PANELS } from "./model";
import { palette, shape } from "./palette";
import { CanvasPen, fitted } from "./pen";
import { Plots } from "./plots";
import { Run, RUN_HEIGHT } from "./run";
import { Sequence } from "./sequence";
import { Live, source } from "./source";
import { Trace } from "./trace";

const by = <T extends HTMLElement>(selector: string) => document.querySelector(selector) as T;

/** The opening view: the first data frames, in a span wide enough for some exchanges and narrow enough to see each. */
function firstSpan(trace: Trace): [number, number] {
  const { chunks, span, opens } = trace.head;
  const width = Math.min(span[1] - span[0], Math.max(chunks.length, 1e8));
  // Begin a little before it; a very early first frame is in the span anyway.
  const from = Math.max(span[0], Math.min(opens.from < span[0] + width / 2 ? span[0] : opens.from - width / 20, span[1] - width));
  return [from, from + width];
}

async function start(): Promise<void> {
  const from = source();
  const inside = window.parent !== window;
  document.documentElement.classList.toggle("inside", inside);
  const trace = await Trace.open(from);
  const { head } = trace;
  document.title = `${head.title} · fourhop view`;
  by("#title").textContent = head.title;
  const model = new Model(head.span);
  const run = new Run(trace, model);
  const map = new MapView(trace, model);
  const lanes = new Lanes(trace, model);
  const sequence = new Sequence(trace, model);
  const plots = new Plots(trace, model, by("#charts"));
  const details = new Details(trace, model, by("#facts"));
  const runCanvas = by<HTMLCanvasElement>("#run"), mapCanvas = by<HTMLCanvasElement>("#map canvas"), lanesCanvas = by<HTMLCanvasElement>("#lanes canvas");
  const sequenceCanvas = by<HTMLCanvasElement>("#sequence canvas");
  const timings = { frames: 0, milliseconds: 0, worst: 0, first: 0 };
  const about = () => {
    const counts = Object.entries(trace.head.counts).map(([name, count]) => `${count.toLocaleString("en")} ${name}`);
    by("#about").textContent = [head.profile, `seed ${head.seed}`, duration(trace.head.span[1] - trace.head.span[0]), ...counts].join(" · ");
  };
  const controls = new Controls(trace, model, { run, map, lanes, sequence, plots }, { runCanvas, mapCanvas, lanesCanvas, sequenceCanvas });
  let loaded = 0;
  // Only panels on the screen are drawn.
  const seen = new Set<string>(["map", "lanes"]);
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target.id);
    model.changed();
  });
  for (const id of ["map", "lanes", "sequence", "plots"]) watch.observe(by(`#${id}`));
  const draw = (): void => {
    const before = performance.now();
    for (const panel of PANELS) by(`#${panel}`).hidden = model.panels !== null && !model.panels.includes(panel);
    // Panels that the address names are shown on a narrow screen, too.
    by("main").classList.toggle("asked", model.panels !== null);
    by("main").classList.toggle("single", ["#map", "#details"].some((panel) => by(panel).hidden !== false));
    run.draw(fitted(runCanvas, RUN_HEIGHT));
    if (mapCanvas.clientWidth > 0 && seen.has("map")) map.draw(fitted(mapCanvas, inside ? 230 : 300));
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
  legend(head, trace.paths, by("#legend"), by("#states"));
  about();
  model.window(...firstSpan(trace));
  // A frame is on the air and selected, and its flow is shown, so every panel has something to show.
  model.t = head.opens.t;
  if (head.opens.frame >= 0) model.selected = { kind: "frame", id: head.opens.frame };
  if (head.opens.node >= 0) model.node = head.opens.node;
  model.flow = head.flows.length === 0 ? -1 : Math.max(0, head.opens.flow);
  const come = () => location.hash.length > 1 && model.take(location.hash, trace.head.nodes.length, trace.head.flows.length);
  come();
  addEventListener("hashchange", come);
  if (from instanceof Live) {
    controls.live();
    model.window(...head.span);
    from.onhead = (next, renewed) => {
      // Keep the width; a view of the whole run changes to the last ten seconds.
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
    from.onend = () => controls.say("The emulation has ended, or the connection to it was lost.");
  }
  draw();
  void trace.whole();
  const canvasPen = (to: CanvasRenderingContext2D, width: number, height: number) => new CanvasPen(to, width, height);
  // For tests and scripts: what was drawn, and how long it took.
  Object.assign(window, { fourhop: { trace, model, run, map, lanes, sequence, plots, controls, timings, shape, colour: (flow: number) => palette().flow(flow), pen: canvasPen } });
}

start().catch((error: unknown) => {
  by("#say").textContent = `Cannot show this trace: ${error instanceof Error ? error.message : String(error)}`;
  throw error;
});
