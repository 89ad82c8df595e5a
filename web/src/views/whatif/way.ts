/** How far a thing is moved, in the world's unit of length: right and up. */
import type { WhatIfThing } from "../../api/whatif";

type Movable = Pick<WhatIfThing, "grid" | "unit_px">;
/** What can be moved by any amount goes by quarters: finer than that nobody can drag. */
const finest = 0.25;

/** From pixels of the observation, down and right; null where it stays where it is. */
export function wayOf({ dx, dy }: { dx: number; dy: number }, thing: Movable): [number, number] | null {
  const step = thing.grid || finest;
  const along = (pixels: number): number => Math.round(pixels / thing.unit_px / step) * step + 0;
  const [right, up] = [along(dx), along(-dy)];
  return right || up ? [right, up] : null;
}

/** How far an arrow key moves it. */
export function stepOf(thing: Movable): number {
  return thing.grid || 2 * finest;
}
