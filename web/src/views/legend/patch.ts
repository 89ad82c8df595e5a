/** Where the picture of an example is cut out. */
import type { ReceptiveField } from "../../marks/receptivefield";

export interface Cut {
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

/** The square of `reach` pixels around the middle of what a cell sees; it may hang over the edge of the picture. */
export function cutOf(
  at: { readonly y: number; readonly x: number },
  { first, stride }: ReceptiveField,
  picture: { readonly height: number; readonly width: number },
  reach: number,
): Cut {
  const side = Math.max(4, Math.min(reach, picture.width, picture.height));
  return {
    x: Math.round((first[1] + at.x * stride[1]) * picture.width - side / 2),
    y: Math.round((first[0] + at.y * stride[0]) * picture.height - side / 2),
    side,
  };
}

/** How much of an example is seen: the strongest wholly, weak ones faintly, but never not at all. */
export function opacityOf(amount: number, most: number): number {
  return most > 0 ? Math.max(0.25, Math.min(1, Math.sqrt(amount / most))) : 1;
}

/** Cells of the map of examples, [factor, sign, side, side]: which row and how strong, of both signs or of one. */
export function mapOf(
  cells: ArrayLike<number>,
  rows: ArrayLike<number>,
  { factor, which, side }: { factor: number; which: "all" | "good" | "bad"; side: number },
): { row: number; amount: number; sign: "good" | "bad" }[] {
  const size = side * side;
  return Array.from({ length: size }, (_, cell) => {
    const [good, bad] = [0, 1].map((sign) => (factor * 2 + sign) * size + cell) as [number, number];
    const sign = which === "all" ? (cells[good]! >= cells[bad]! ? "good" : "bad") : which;
    const at = sign === "good" ? good : bad;
    return { row: rows[at]!, amount: cells[at]!, sign };
  });
}
