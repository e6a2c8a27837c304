// Names beside nodes that overlap neither each other nor a node; a name without room is hidden until the map is
// larger.

import type { Pen } from "./pen";

/** Approximate width of a letter of ten points; pens cannot measure. */
const LETTER = 5.6;
const HIGH = 11;
/** Maximum number of nodes with names; there is no room for more. */
const MOST = 300;

export interface Labelled { name: string; x: number; y: number; radius: number; first: boolean }

interface Box { left: number; top: number; right: number; bottom: number }

const overlap = (one: Box, other: Box): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

/** The middle of each name's box; names without room are left out. `first` come first. */
export function placed(nodes: Labelled[], pen: Pick<Pen, "width" | "height">): { at: number; x: number; y: number }[] {
  const taken: Box[] = nodes.map(({ x, y, radius }) => ({ left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }));
  const order = nodes.slice(0, MOST).map((_, at) => at).sort((one, other) => Number(nodes[other]!.first) - Number(nodes[one]!.first) || one - other);
  const found: { at: number; x: number; y: number }[] = [];
  for (const at of order) {
    const { name, x, y, radius, first } = nodes[at]!;
    if (x < -20 || y < -20 || x > pen.width + 20 || y > pen.height + 20) continue;
    const half = (name.length * LETTER) / 2, beside = radius + half + 4, below = radius + 8;
    const positions: [number, number][] = [[x, y + below], [x, y - below], [x + beside, y], [x - beside, y],
      [x + beside - 4, y + below - 3], [x - beside + 4, y + below - 3], [x + beside - 4, y - below + 3], [x - beside + 4, y - below + 3]];
    const boxes = positions.map(([cx, cy]) => ({ left: cx - half, top: cy - HIGH / 2, right: cx + half, bottom: cy + HIGH / 2 }));
    const within = ({ left, top, right, bottom }: Box) => left >= 0 && right <= pen.width && top >= 0 && bottom <= pen.height;
    const free = boxes.findIndex((box) => within(box) && !taken.some((other) => overlap(box, other)));
    // The chosen node always has its name.
    const chosen = free >= 0 ? free : first && found.length === 0 ? 0 : -1;
    if (chosen < 0) continue;
    taken.push(boxes[chosen]!);
    found.push({ at, x: positions[chosen]![0], y: positions[chosen]![1] });
  }
  return found;
}
