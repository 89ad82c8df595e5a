/** Glyphs of rows: where they lie on screen, and what each domain says of them. */
import { gathered, isCrowded, type Aim, type Glyph } from "../../marks/map/glyphs";
import type { Projection } from "../../marks/map/map";
import type { ErrorOf, PoseValues, Truth } from "../../state/recording/poses.svelte";

/** How long a wedge can be. */
export const radius_px = (count: number): number => Math.min(34, 24 + 2 * Math.log2(count));
const cell_px = 62;

interface Given {
  readonly truth: Truth;
  readonly sides: readonly (PoseValues | undefined)[];
  readonly what: ErrorOf;
  readonly rows: (row: number) => boolean;
  readonly to: Projection;
  readonly size: { readonly width: number; readonly height: number };
}

export function glyphsOf({ truth, sides, what, rows, to, size }: Given): Glyph[] {
  const found: Glyph[] = [];
  for (let row = 0; row < truth.xs.length; row++) {
    if (!rows(row)) continue;
    const [x, y] = [to.x(truth.xs[row]!), to.y(truth.ys[row]!)];
    if (!(x >= 0 && x <= size.width && y >= 0 && y <= size.height)) continue;
    const aims = sides.map((values) => values && aimOf(values, row, { x, y }, what, to));
    const known = aims.map((aim) => aim ?? null);
    if (known.some((aim) => aim !== null)) found.push({ x, y, aims: known, count: 1 });
  }
  const shown = isCrowded(found.length, size) ? gathered(found, cell_px) : found;
  const longest = (glyph: Glyph): number => Math.max(...glyph.aims.map((aim) => aim?.error ?? 0));
  return shown.toSorted((one, other) => longest(other) - longest(one));
}

/** Of a place, the way to the prediction; of a heading, the heading that is predicted. */
function aimOf(
  values: PoseValues,
  row: number,
  at: { x: number; y: number },
  what: ErrorOf,
  to: Projection,
): Aim | null {
  const [x, y] = [to.x(values.xs[row]!), to.y(values.ys[row]!)];
  const error = (what === "heading" ? values.heading : values.position)?.[row] ?? NaN;
  const heading = ((values.headings_deg?.[row] ?? NaN) * Math.PI) / 180;
  const angle = what === "heading" ? -heading : Math.atan2(y - at.y, x - at.x);
  return Number.isFinite(error) && Number.isFinite(angle) && Number.isFinite(x + y) ? { angle, error, x, y } : null;
}
