// The events of a span of time, with the lookups that drawing needs.

import { bisect } from "./search";
import type { Frames, Head, Packets, Receptions, States } from "./types";

/** Whether the fate of a copy means that it was lost. */
export function isLoss(fate: string): boolean {
  return fate !== "received" && fate !== "overheard";
}

export class Chunk {
  /** The longest frame: frames on the air at an instant began at most this long before it. */
  private readonly longest: number;
  /** Fate of each row's frame at its destination, as a code; -1: broadcast, or the copy is not in this span. */
  readonly fate: Int8Array;
  /** Copies lost in this span, in order of their ends, and the rows of their frames; `mine` marks losses at the
   * destination. */
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
      // At other nodes, a weak frame or a busy transmitter is no event worth showing.
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
