// What happened in a span of time, with what is looked up again and again while it is drawn.

import { bisect } from "./search";
import type { Frames, Head, Packets, Receptions, States } from "./types";

/** Whether a fate of a copy, by its name, says that it was lost. */
export function isLoss(fate: string): boolean {
  return fate !== "received" && fate !== "overheard";
}

export class Chunk {
  /** The longest frame: how far before an instant those begin that are on the air at it. */
  private readonly longest: number;
  /** What became of the frame of a row at the node that it is for, as a code; -1: it is for all, or its copy is not here. */
  readonly fate: Int8Array;
  /** Copies that were lost in this span, in order of their ends, and the rows of their frames: `mine` at the node the frame is for. */
  readonly losses: { end: number; row: number; frame: number; mine: boolean }[] = [];
  private readonly ends: number[];

  constructor(
    head: Head, readonly t0: number, readonly t1: number, readonly frames: Frames, readonly receptions: Receptions,
    readonly states: States, readonly packets: Packets,
  ) {
    const { frame, node, end, fate } = receptions;
    const row = new Map<number, number>();
    let longest = 0;
    for (let at = 0; at < frames.rows; at++) {
      row.set(frames.frame[at]!, at);
      longest = Math.max(longest, frames.end[at]! - frames.start[at]!);
    }
    this.longest = longest;
    this.fate = new Int8Array(frames.rows).fill(-1);
    const lost = head.names.fate.map(isLoss);
    const collision = head.names.fate.indexOf("collision");
    for (let at = 0; at < receptions.rows; at++) {
      const code = fate[at]!;
      const of = row.get(frame[at]!);
      if (of === undefined) continue;
      const mine = frames.dst[of] === node[at];
      if (mine) this.fate[of] = code;
      // That a frame is too weak for a node, or that the node sends, is no news where nobody meant it.
      if (!lost[code] || !(mine || code === collision) || end[at]! < 0 || end[at]! >= t1 - t0) continue;
      this.losses.push({ end: end[at]!, row: at, frame: of, mine });
    }
    this.losses.sort((one, other) => one.end - other.end);
    this.ends = this.losses.map((loss) => loss.end);
  }

  /** Rows of the frames that begin in [from, to) or, with `long`, are on the air in it. Times of the run. */
  rows(from: number, to: number, long = true): [number, number] {
    const { start } = this.frames;
    return [bisect(start, from - this.t0 - (long ? this.longest : 0) - 1), bisect(start, to - this.t0 - 1)];
  }

  /** Losses that end in (from, to]. */
  lostIn(from: number, to: number): { end: number; row: number; frame: number; mine: boolean }[] {
    return this.losses.slice(bisect(this.ends, from - this.t0), bisect(this.ends, to - this.t0));
  }
}
