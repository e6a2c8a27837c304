// The colour of each flow: its own while there are few. Of many, flows of the same number of hops share one, so that a legend can name all.

import type { Head } from "./types";
import type { Paths } from "./routes";

/** Colours that a reader tells apart at a glance. */
export const OWN = 6;

export interface Group { name: string; flows: number[]; colour: number; hops: boolean }

let colours: number[] = [];
let byHops = false;

/** The place of a flow's colour in the palette, and which of the two palettes it is; -1: of no flow. */
export function colourOf(flow: number): { place: number; hops: boolean } {
  return flow < 0 ? { place: -1, hops: false } : { place: colours[flow] ?? flow % OWN, hops: byHops };
}

/** The radio hops of a flow's path at a time; 0 if it has none yet. */
function hops(head: Head, paths: Paths, flow: number, t: number): number {
  return Math.max(0, paths.ofFlow(flow, t).filter((node) => head.nodes[node]!.radio).length - 1);
}

/** Gives every flow its colour; what the legend says, flow by flow or group by group. */
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
