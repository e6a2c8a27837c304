// What colours and shapes mean, below the map and below the time lines.

import { glyph } from "./map";
import { palette, shape } from "./palette";
import { SvgPen } from "./pen";
import type { Head } from "./types";

function item(name: string, draw: (pen: SvgPen) => void): HTMLElement {
  const made = document.createElement("li");
  const pen = new SvgPen(14, 12);
  draw(pen);
  made.innerHTML = `<svg width="14" height="12" aria-hidden="true">${pen.body}</svg>`;
  made.append(name);
  return made;
}

export function legend(head: Head, map: HTMLElement, states: HTMLElement): void {
  const colours = palette();
  map.replaceChildren(
    ...head.flows.slice(0, 12).map((flow, at) => item(flow.name, (pen) => pen.rect(0, 3, 14, 6, colours.flow(at)))),
    item("of no flow", (pen) => pen.rect(0, 3, 14, 6, colours.flow(-1))),
    ...["data", "aggregate", "RTS", "CTS", "ACK", "block ACK", "BA request", "RREQ"].map((kind) =>
      item(kind === "RREQ" ? "routing, ARP" : kind, (pen) => glyph(pen, shape(kind), 7, 6, 4, colours.text))),
    item("lost, with its reason", (pen) => {
      pen.line([3, 2, 11, 10], colours.lost, 2.5);
      pen.line([3, 10, 11, 2], colours.lost, 2.5);
    }),
  );
  const bar = (name: string, colour: string, top: number, high: number) => item(name, (pen) => pen.rect(0, top, 14, high, colour));
  states.replaceChildren(
    bar("sends (in the flow's colour; red line above: again)", colours.flow(0), 1, 8), bar("receives", colours.receive, 1, 6),
    bar("senses energy, or EIFS", colours.busy, 3, 5), bar("reserved (NAV)", colours.nav, 6, 2), bar("waits for an answer", colours.waiting, 4, 4),
    bar("back-off counts", colours.counting, 6, 5), bar("back-off frozen", colours.frozen, 6, 5), bar("interframe space", colours.faint, 9, 2),
    item("lost here", (pen) => {
      pen.line([3, 2, 11, 10], colours.lost, 2);
      pen.line([3, 10, 11, 2], colours.lost, 2);
    }),
  );
}
