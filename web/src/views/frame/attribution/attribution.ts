/** Amounts of factors as drops over a picture, good and bad, and their sums. */
import { drawDrops, rgbOf, type Drops } from "../../../marks/drops";
import type { Look } from "../../../marks/colour/names";
import type { FactorRow } from "../../../state/vision/factorrows";
import type { Factors } from "../../../state/vision/factors";
import { sumsOf } from "../place";

export interface DrawnAttribution {
  readonly drops: Drops;
  readonly good: ImageData;
  /** Null where amounts have no sign. */
  readonly bad: ImageData | null;
  readonly sums: { readonly good: number; readonly bad: number };
  readonly found: FactorRow;
}

export function attributionOf(
  found: FactorRow | null,
  value: Factors | null,
  {
    full,
    shown,
    signed,
    look,
  }: { full: number; shown: (factor: number) => boolean; signed: boolean; look: (factor: number) => Look },
): DrawnAttribution | null {
  if (!found || !value) return null;
  const looks = value.factors.map((_, factor) => look(factor));
  const drops: Drops = {
    amounts: found.amounts.map((amount) => amount / full),
    height: value.grid[0],
    width: value.grid[1],
    receptive_field: value.receptive_field,
    colours: looks.map(({ colour }) => rgbOf(colour)),
    textures: looks.map(({ texture }) => texture),
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
