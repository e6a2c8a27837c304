/** The first index with a greater value; `values` are sorted. */
export function bisect(values: ArrayLike<number>, value: number): number {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
