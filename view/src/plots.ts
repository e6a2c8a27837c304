// Plots on the common time axis: uPlot draws them on the page, `drawPlots` with a pen for an export.

import uPlot from "uplot";
import { colourOf } from "./flows";
import { LEFT } from "./lanes";
import { instant, marks, type Model } from "./model";
import { palette, type Palette } from "./palette";
import type { Pen } from "./pen";
import { Series, visible, type Plot } from "./series";
import type { Trace } from "./trace";

const HEIGHT = 116;
/** The colour of a line; the first has the flow's colour if each flow has its own. */
const colour = (colours: Palette, flow: number, line: number) => colours.line((colourOf(flow).hops ? 0 : Math.max(flow, 0)) + line);

export class Plots {
  private readonly series: Series;
  private charts: { id: string; chart: uPlot; at: HTMLElement }[] = [];
  /** The greatest visible value of each plot. */
  private readonly most = new Map<string, number>();
  private made = "";
  private drawn = "";

  constructor(trace: Trace, private readonly model: Model, private readonly into: HTMLElement) {
    this.series = new Series(trace);
  }

  /** The plots with data: some transports have no interval, some flows no window. */
  plots(): Plot[] {
    return this.series.of(this.model.flow).filter((plot) => plot.lines.some((line) => line.time.length > 0));
  }

  draw(): void {
    const plots = this.plots();
    const width = this.into.clientWidth;
    if (width < 50) return;
    const made = [this.model.flow, width, palette().dark, plots.map((plot) => plot.id + plot.lines.length)].join();
    if (made !== this.made) {
      this.made = made;
      this.drawn = "";
      this.rebuild(plots, width);
    }
    const { from, to, t } = this.model;
    const drawn = [from, to, plots.map((plot) => plot.lines.map((line) => line.time.length))].join();
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      for (const { id, chart } of this.charts) {
        const plot = plots.find((each) => each.id === id)!;
        const shown = plot.lines.map((line) => visible(line, from, to));
        this.most.set(id, shown.reduce((most, [, values]) => values.reduce((one, other) => Math.max(one, other), most), 0));
        chart.batch(() => {
          chart.setData(aligned(shown), false);
          chart.setScale("x", { min: from / 1e9, max: to / 1e9 });
        });
      }
    }
    // The current time is drawn over the charts, so that they need no redraw.
    for (const { at } of this.charts) {
      at.style.display = t >= from && t <= to ? "" : "none";
      at.style.transform = `translateX(${((t - from) / (to - from)) * (width - LEFT)}px)`;
    }
  }

  private rebuild(plots: Plot[], width: number): void {
    const colours = palette();
    for (const { chart } of this.charts) chart.destroy();
    this.into.textContent = "";
    this.charts = plots.map((plot) => {
      const element = document.createElement("figure");
      const caption = document.createElement("figcaption");
      caption.textContent = `${plot.title} (${plot.unit})`;
      element.append(caption);
      this.into.append(element);
      const axis = { stroke: colours.faint, grid: { stroke: colours.grid, width: 1 }, ticks: { stroke: colours.grid, width: 1 }, font: "10px system-ui" };
      const chart = new uPlot({
        width, height: HEIGHT,
        padding: [4, 0, 0, 0],
        legend: { show: true, live: true },
        cursor: { drag: { x: true, y: false }, points: { size: 5 } },
        hooks: {
          setSelect: [(u) => {
            if (u.select.width > 3) {
              this.model.window(u.posToVal(u.select.left, "x") * 1e9, u.posToVal(u.select.left + u.select.width, "x") * 1e9);
            }
            u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          }],
        },
        scales: { x: { time: false, auto: false }, y: { range: () => [0, (this.most.get(plot.id) ?? 0) * 1.08 || 1] } },
        axes: [
          { ...axis, size: 26, gap: 3, values: (u, splits) => splits.map((at) =>
            // Omit labels that the edge would cut off; the axis ends where the other panels' axes do.
            u.valToPos(at, "x") > width - LEFT - 24 ? "" : instant(at * 1e9, this.model.width)) },
          { ...axis, size: LEFT, gap: 4, space: 22 },
        ],
        series: [
          { label: "s", value: (_u, at) => (at === null ? "" : instant(at * 1e9, this.model.width)) },
          ...plot.lines.map((line, at): uPlot.Series => ({
            label: line.name, stroke: colour(colours, this.model.flow, at), width: line.dashed ? 1 : 2, spanGaps: true,
            ...(line.dashed ? { dash: [4, 3] } : {}), points: { show: false },
            ...(plot.steps ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
            value: (_u, value) => (value === null || value === undefined ? "" : String(Number(value.toPrecision(4)))),
          })),
        ],
      }, [[]], element);
      element.addEventListener("click", (event) => {
        const box = chart.over.getBoundingClientRect();
        if (event.target instanceof Node && chart.over.contains(event.target)) this.model.seek(chart.posToVal(event.clientX - box.left, "x") * 1e9);
      });
      const at = document.createElement("div");
      at.className = "at";
      chart.over.append(at);
      return { id: plot.id, chart, at };
    });
  }

  /** Height of an export of all plots. */
  height(): number {
    return this.plots().length * HEIGHT;
  }

  drawWith(pen: Pen): void {
    const colours = palette();
    const { from, to, t, flow } = this.model;
    const x = (at: number) => LEFT + ((at - from) / (to - from)) * (pen.width - LEFT);
    pen.rect(0, 0, pen.width, pen.height, colours.panel);
    this.plots().forEach((plot, at) => {
      const top = at * HEIGHT + 16, bottom = (at + 1) * HEIGHT - 16;
      const shown = plot.lines.map((line) => visible(line, from, to));
      const most = shown.reduce((sum, [, values]) => values.reduce((one, other) => Math.max(one, other), sum), 0) * 1.08 || 1;
      const y = (value: number) => bottom - (value / most) * (bottom - top);
      pen.text(`${plot.title} (${plot.unit})`, LEFT, top - 8, colours.text, 11, "left", true);
      for (const value of marks(0, most, 4)) {
        pen.line([LEFT, y(value), pen.width, y(value)], colours.grid);
        pen.text(String(Number(value.toPrecision(6))), LEFT - 5, y(value), colours.faint, 10, "right");
      }
      for (const value of marks(from, to, 8)) pen.text(instant(value, to - from), x(value), bottom + 8, colours.faint, 10, "center");
      pen.clip(LEFT, top, pen.width - LEFT, bottom - top);
      plot.lines.forEach((line, number) => {
        const [times, values] = shown[number]!;
        const points: number[] = [];
        times.forEach((each, index) => {
          if (plot.steps && index > 0) points.push(x(each), y(values[index - 1]!));
          points.push(x(each), y(values[index]!));
        });
        if (points.length) pen.line(points, colour(colours, flow, number), line.dashed ? 1 : 2, line.dashed ? [4, 3] : []);
      });
      pen.line([x(t), top, x(t), bottom], colours.cursor, 1.5);
      pen.unclip();
      plot.lines.forEach((line, number) => pen.text(line.name, pen.width - 6 - number * 130, top - 8, colour(colours, flow, number), 10, "right"));
    });
  }
}

/** All lines on a common list of times, as uPlot needs; a line has gaps where only others have points. */
function aligned(shown: [number[], number[]][]): uPlot.AlignedData {
  const times = Float64Array.from(new Set(shown.flatMap(([time]) => time))).sort();
  const columns = shown.map(([time, value]) => {
    const column: (number | null | undefined)[] = new Array<undefined>(times.length);
    let at = 0;
    time.forEach((each, index) => {
      while (times[at]! < each) at++;
      column[at] = value[index]!;
    });
    return column;
  });
  return [times.map((each) => each / 1e9), ...columns] as uPlot.AlignedData;
}
