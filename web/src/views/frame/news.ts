/** Amounts of factors as drops over a picture, good and bad, and their sums. */
import { category, readPalette } from "../../marks/colour";
import { drawDrops, factorPlace, rgbOf, type Drops } from "../../marks/drops";
import type { FactorRow } from "../../state/factorrows";
import type { Factors } from "../../state/factors";
import { sumsOf } from "./place";

export interface NewsDrawn {
  readonly drops: Drops;
  readonly good: ImageData;
  /** Null where amounts have no sign. */
  readonly bad: ImageData | null;
  readonly sums: { readonly good: number; readonly bad: number };
  readonly found: FactorRow;
}

export function newsOf(
  found: FactorRow | null,
  value: Factors | null,
  { full, shown, signed }: { full: number; shown: (factor: number) => boolean; signed: boolean },
): NewsDrawn | null {
  if (!found || !value) return null;
  const palette = readPalette();
  const drops: Drops = {
    amounts: found.amounts.map((amount) => amount / full),
    height: value.grid[0],
    width: value.grid[1],
    sight: value.sight,
    colours: value.factors.map((_, factor) => rgbOf(category(palette, factorPlace(factor)))),
    shown,
  };
  return {
    drops,
    good: drawDrops(drops, 1),
    bad: signed ? drawDrops(drops, -1) : null,
    sums: sumsOf(found.totals, shown),
    found,
  };
}
