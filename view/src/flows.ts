// The colour of each flow: its own if there are few. With many flows, those with the same hop count share one, so
// that the legend stays short.

import type { Head } from "./types";
import type { Paths } from "./routes";

/** Colours that are easy to tell from each other. */
export const OWN = 6;

export interface Group { name: string; flows: number[]; colour: number; hops: boolean }

let colours: number[] = [];
let byHops = false;

/** The index of a flow's colour in its palette, and the palette; -1: no flow. */
export function colourOf(flow: number): { place: number; hops: boolean } {
  return flow < 0 ? { place: -1, hops: false } : { place: colours[flow] ?? flow % OWN, hops: byHops };
}

/** The radio hops of a flow's path at a time; 0 if it has no path yet. */
function hops(head: Head, paths: Paths, flow: number, t: number): number {
  return Math.max(0, paths.ofFlow(flow, t).filter((node) => head.nodes[node]!.radio).length - 1);
}

/** Gives every flow its colour, and returns the legend: one entry per flow or group. */
export function assign(head: Head, paths: Paths): Group[] {
  byHops = head.flows.length > OWN;
  if (!byHops) {
    colours = head.flows.map((_, at) => at);
    return head.flows.map(({ name }, at) => ({ name, flows: [at], colour: at, hops: false }));
  }
  const counts = head.flows.map((_, at) => hops(head, paths, at, head.span[1]));
  colours = counts.map((count) => Math.min(Math.max(count, 1), OWN) - 1);
  const groups: Group[] = [];
  for (let place = 0; place < OWN; place++) {
    const flows = colours.flatMap((each, at) => (each === place ? [at] : []));
    const many = place === OWN - 1 && flows.some((at) => counts[at]! > OWN) ? "or more " : "";
    const unit = place === 0 ? "hop" : "hops";
    const name = `flows of ${place + 1} ${many}${unit} (${flows.length})`;
    if (flows.length > 0) groups.push({ name, flows, colour: place, hops: true });
  }
  return groups;
}
