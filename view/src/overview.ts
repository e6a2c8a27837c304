// The whole run in bins: the share of each bin that a node sent, received and sensed, and its losses.

import type { Model } from "./model";
import type { Palette } from "./palette";
import type { Head } from "./types";

export class Overview {
  /** Prefix sums over the bins, so that every span costs the same: `bins + 1` values per channel and node. */
  private readonly sums: Float64Array;
  readonly bins: number;
  private readonly nodes: number;
  readonly span: [number, number];
  private strip: { sending: Float64Array; lost: Float64Array } | null = null;

  constructor(head: Head, bytes: Uint8Array) {
    this.bins = head.bins;
    this.nodes = head.nodes.length;
    this.span = head.span;
    this.sums = new Float64Array(4 * this.nodes * (this.bins + 1));
    for (let row = 0; row < 4 * this.nodes; row++) {
      let sum = 0;
      for (let bin = 0; bin < this.bins; bin++) {
        sum += bytes[row * this.bins + bin]!;
        this.sums[row * (this.bins + 1) + bin + 1] = sum;
      }
    }
  }

  /** The sum of a channel from the start of the run to a fraction of a bin. */
  private upTo(channel: number, node: number, bin: number): number {
    const row = (channel * this.nodes + node) * (this.bins + 1);
    const whole = Math.floor(bin);
    const before = this.sums[row + whole]!;
    return whole < this.bins ? before + (this.sums[row + whole + 1]! - before) * (bin - whole) : before;
  }

  /** The whole run in `across` parts: mean number of transmitting nodes, and whether frames were lost. */
  activity(across: number): { sending: Float64Array; lost: Float64Array } {
    if (this.strip?.sending.length === across) return this.strip;
    const sending = new Float64Array(across), lost = new Float64Array(across);
    const perPart = this.bins / across;
    for (let node = 0; node < this.nodes; node++) {
      for (let at = 0; at < across; at++) {
        const [from, to] = [at * perPart, Math.min(this.bins, (at + 1) * perPart)];
        sending[at]! += (this.upTo(0, node, to) - this.upTo(0, node, from)) / (255 * perPart);
        lost[at]! += this.upTo(3, node, to) - this.upTo(3, node, from);
      }
    }
    return (this.strip = { sending, lost });
  }

  /** Shares of time as heights in the rows of nodes; a red top marks losses. */
  picture(nodes: number[], view: Pick<Model, "from" | "to">, across: number, height: number, colours: Palette): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.width = across;
    canvas.height = nodes.length * height;
    const to = canvas.getContext("2d")!;
    const image = to.createImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    const [send, receive, busy, lost] = [colours.send, colours.receive, colours.busy, colours.lost].map(packed) as [number, number, number, number];
    const [first, last] = this.span;
    const perBin = (last - first) / this.bins;
    const bin = (x: number) => Math.max(0, Math.min(this.bins, (view.from + (x / across) * (view.to - view.from) - first) / perBin));
    const inner = Math.max(1, height - 1);
    const edges = Array.from({ length: across + 1 }, (_, x) => bin(x));
    nodes.forEach((node, place) => {
      const bottom = (place + 1) * height - 1, top = place * height;
      const before = [0, 1, 2, 3].map((channel) => this.upTo(channel, node, edges[0]!)) as [number, number, number, number];
      for (let x = 0; x < across; x++) {
        const most = 255 * (edges[x + 1]! - edges[x]!);
        let y = bottom;
        for (let channel = 0; channel < 3 && most > 0; channel++) {
          const sum = this.upTo(channel, node, edges[x + 1]!);
          const share = (sum - before[channel]!) / most;
          before[channel] = sum;
          const count = Math.max(Math.round(share * inner), channel === 0 && share > 0 ? 1 : 0);
          const colour = channel === 0 ? send : channel === 1 ? receive : busy;
          for (let each = 0; each < count && y >= top; each++, y--) pixels[y * across + x] = colour;
        }
        const losses = this.upTo(3, node, edges[x + 1]!);
        if (losses > before[3]) {
          pixels[(top + 1) * across + x] = lost;
          pixels[(top + 2) * across + x] = lost;
        }
        before[3] = losses;
      }
    });
    to.putImageData(image, 0, 0);
    return canvas;
  }
}

/** A colour as the four bytes of a pixel. */
function packed(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)) as [number, number, number];
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
