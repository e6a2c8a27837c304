// Legends of colours and shapes, below the map and below the time lines.

import { assign } from "./flows";
import { glyph, square } from "./map";
import { faded, palette, shape } from "./palette";
import { SvgPen } from "./pen";
import type { Paths } from "./routes";
import type { Head } from "./types";

function item(name: string, draw: (pen: SvgPen) => void): HTMLElement {
  const made = document.createElement("li");
  const pen = new SvgPen(14, 12);
  draw(pen);
  made.innerHTML = `<svg width="14" height="12" aria-hidden="true">${pen.body}</svg>`;
  made.append(name);
  return made;
}

export function legend(head: Head, paths: Paths, map: HTMLElement, states: HTMLElement): void {
  const colours = palette();
  const groups = assign(head, paths);
  const gateways = head.nodes.some(({ gateway }) => gateway);
  map.replaceChildren(
    ...groups.map(({ name, flows, hops }) => {
      const made = item(name, (pen) => pen.rect(0, 3, 14, 6, colours.flow(flows[0]!)));
      if (hops) made.title = flows.map((at) => head.flows[at]!.name).join(", ");
      return made;
    }),
    item("no flow", (pen) => pen.rect(0, 3, 14, 6, colours.flow(-1))),
    ...["data", "aggregate", "RTS", "CTS", "ACK", "block ACK", "BA request", "RREQ"].map((kind) =>
      item(kind === "RREQ" ? "routing, ARP" : kind, (pen) => glyph(pen, shape(kind), 7, 6, 4, colours.text))),
    ...(gateways ? [item("gateway", (pen) => square(pen, 7, 6, 4, colours.panel, colours.text))] : []),
    ...(head.links.length ? [item("link", (pen) => pen.line([0, 6, 14, 6], colours.link, 1.2))] : []),
    ...(head.flows.length ? [item("route of the flow", (pen) => pen.line([0, 6, 14, 6], faded(colours.send, 0.4), 5))] : []),
    item("lost, with the reason", (pen) => {
      pen.line([3, 2, 11, 10], colours.lost, 2.5);
      pen.line([3, 10, 11, 2], colours.lost, 2.5);
    }),
  );
  const bar = (name: string, colour: string, top: number, high: number) => item(name, (pen) => pen.rect(0, top, 14, high, colour));
  states.replaceChildren(
    bar("transmits (colour of the flow; red line above: retransmission)", colours.send, 1, 8), bar("receives", colours.receive, 1, 6),
    bar("medium busy, or EIFS", colours.busy, 3, 5), bar("reserved (NAV)", colours.nav, 6, 2), bar("waits for CTS or ACK", colours.waiting, 4, 4),
    bar("backoff counts down", colours.counting, 6, 5), bar("backoff frozen", colours.frozen, 6, 5), bar("interframe space", colours.faint, 9, 2),
    item("lost here", (pen) => {
      pen.line([3, 2, 11, 10], colours.lost, 2);
      pen.line([3, 10, 11, 2], colours.lost, 2);
    }),
  );
}
