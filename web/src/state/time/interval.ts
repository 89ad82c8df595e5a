/** A stretch of steps or rows, from one to another. */
export type Interval = readonly [from: number, to: number];

/** `3-9` in the address. */
export function intervalFromText(text: string): Interval | null {
  const [from, to] = text.split("-").map(Number);
  return from !== undefined && to !== undefined && to > from ? [from, to] : null;
}
