// The whole run as a strip: number of transmitting nodes, losses, the visible span, and the current time, which can be
// dragged.

import { LEFT } from "./lanes";
import { duration, type Model } from "./model";
import { faded, palette } from "./palette";
import type { Pen } from "./pen";
import type { Trace } from "./trace";

export const RUN_HEIGHT = 34;
const FOOT = 3;

export class Run {
  constructor(private readonly trace: Trace, private readonly model: Model) {}

  /** The time at a point of the strip. */
  at(x: number, width: number): number {
    const [first, last] = this.model.span;
    return first + Math.max(0, Math.min(1, (x - LEFT) / Math.max(1, width - LEFT))) * (last - first);
  }

  draw(pen: Pen): void {
    const colours = palette();
    const { model, trace } = this;
    const [first, last] = model.span;
    const x = (t: number) => LEFT + ((t - first) / Math.max(1, last - first)) * (pen.width - LEFT);
    pen.rect(0, 0, pen.width, pen.height, colours.panel);
    pen.text("whole run", LEFT - 6, pen.height / 2 - 6, colours.text, 10, "right");
    pen.text(duration(last - first), LEFT - 6, pen.height / 2 + 7, colours.faint, 10, "right");
    pen.rect(LEFT, 0, pen.width - LEFT, pen.height, colours.strip);
    const [left, right] = [x(model.from), x(model.to)];
    pen.rect(left, 0, Math.max(2, right - left), pen.height, colours.shown);
    const across = Math.max(1, Math.floor(pen.width - LEFT));
    const activity = trace.overview?.activity(across);
    if (activity) {
      const high = pen.height - FOOT - 4;
      const most = activity.sending.reduce((one, other) => Math.max(one, other), 1e-9);
      const points = [LEFT, pen.height - FOOT];
      activity.sending.forEach((each, at) => points.push(LEFT + at + 0.5, pen.height - FOOT - (each / most) * high));
      points.push(LEFT + across, pen.height - FOOT);
      pen.polygon(points, faded(colours.send, 0.75));
      activity.lost.forEach((each, at) => {
        if (each > 0) pen.rect(LEFT + at, pen.height - FOOT, 1, FOOT, colours.lost);
      });
    }
    const edge = faded(colours.text, 0.7);
    for (const at of [left, Math.max(left + 2, right)]) pen.line([at, 0, at, pen.height], edge, 1);
    pen.line([x(model.t), 0, x(model.t), pen.height], colours.cursor, 2);
  }
}
