/** Amounts of factors as drops over a picture, good and bad, and their sums. */
import { drawDrops, rgbOf, type Drops } from "../../../marks/drops";
import type { Look } from "../../../marks/colour/names";
import type { ReceptiveField } from "../../../marks/receptivefield";
import { sumsOf } from "../place";

/** Amounts of one row, [factor, height, width], and good and bad of each factor. */
export interface RowAmounts {
  readonly amounts: Float32Array;
  readonly totals: ArrayLike<number>;
}

/** Factors over a grid that looks at the picture. */
interface Grid {
  readonly grid: readonly [number, number];
  readonly receptive_field: ReceptiveField;
  readonly factors: readonly unknown[];
}

/** Which factors are pointed at, pinned and left out, for whoever points at a picture. */
export interface PointedFactors {
  hover: number | null;
  readonly pinned: number | null;
  readonly hidden: ReadonlySet<number>;
  nameOf(factor: number): string;
  pin(factor: number | null): void;
}

/** What the pictures of good and bad are called. */
export interface SignWords {
  readonly good: string;
  readonly bad: string;
  readonly signed: boolean;
}

export interface DrawnAttribution {
  readonly drops: Drops;
  readonly good: ImageData;
  /** Null where amounts have no sign. */
  readonly bad: ImageData | null;
  readonly sums: { readonly good: number; readonly bad: number };
  readonly found: RowAmounts;
}

export function attributionOf(
  found: RowAmounts | null,
  value: Grid | null,
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
