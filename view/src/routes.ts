// The routes of all nodes at any time, and the paths of flows along them.

import { bisect } from "./search";
import type { Head, Routes } from "./types";

interface Changes { time: number[]; next: number[] }

export class Paths {
  /** The next hops of a node to a destination, with the time of each change; -1: no route. */
  private readonly changes = new Map<number, Changes>();
  /** The end-to-end paths of a flow, each with the time from which it was used. */
  private readonly whole = new Map<number, { time: number[]; path: number[][] }>();
  private readonly nodes: number;

  constructor(private readonly head: Head, routes: Routes) {
    this.nodes = head.nodes.length;
    for (let row = 0; row < routes.rows; row++) {
      const key = routes.node[row]! * this.nodes + routes.dst[row]!;
      let list = this.changes.get(key);
      if (!list) this.changes.set(key, (list = { time: [], next: [] }));
      list.time.push(routes.time[row]!);
      list.next.push(routes.up[row]! > 0 ? routes.next[row]! : -1);
    }
  }

  private next(node: number, destination: number, t: number): number {
    const list = this.changes.get(node * this.nodes + destination);
    if (!list) return -1;
    const at = bisect(list.time, t) - 1;
    return at < 0 ? -1 : list.next[at]!;
  }

  /** The nodes on a flow's path at a time, by the route of each; at least its source. */
  at(flow: number, t: number): number[] {
    const ends = this.head.flows[flow];
    if (!ends || ends.source < 0) return [];
    const path = [ends.source];
    for (let node = ends.source; node !== ends.destination; ) {
      node = this.next(node, ends.destination, t);
      if (node < 0 || path.includes(node)) break;
      path.push(node);
    }
    return path;
  }

  /** The end-to-end path at a time. While there is no route: the last path, or the first. */
  ofFlow(flow: number, t: number): number[] {
    let list = this.whole.get(flow);
    if (!list) this.whole.set(flow, (list = this.found(flow)));
    return list.path[Math.max(0, bisect(list.time, t) - 1)] ?? this.at(flow, t);
  }

  private found(flow: number): { time: number[]; path: number[][] } {
    const ends = this.head.flows[flow];
    const found: { time: number[]; path: number[][] } = { time: [], path: [] };
    if (!ends) return found;
    const times = new Set<number>();
    for (const [key, { time }] of this.changes) {
      if (key % this.nodes === ends.destination) for (const each of time) times.add(each);
    }
    let longest: number[] = [];
    for (const time of Float64Array.from(times).sort()) {
      const path = this.at(flow, time);
      if (path.length > longest.length) longest = path;
      if (path[path.length - 1] !== ends.destination || path.join() === found.path[found.path.length - 1]?.join()) continue;
      found.time.push(time);
      found.path.push(path);
    }
    // A flow that leaves the mesh has routes to its gateway only.
    return found.path.length > 0 || longest.length === 0 ? found : { time: [this.head.span[0]], path: [longest] };
  }
}
