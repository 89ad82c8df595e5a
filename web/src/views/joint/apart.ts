/** How far the points of one row lie from each other. */
import type { Cloud } from "../../api/layout";

/** For each point the distance to the nearest other point of its row; rows stand together. NaN where it is alone. */
export function apart({ xs, ys }: Cloud, rows: ArrayLike<number>): Float32Array {
  return Float32Array.from({ length: rows.length }, (_, i) => {
    let near = NaN;
    for (const step of [-1, 1])
      for (let j = i + step; rows[j] === rows[i]; j += step) {
        const far = Math.hypot(xs[i]! - xs[j]!, ys[i]! - ys[j]!);
        if (!(far >= near)) near = far;
      }
    return near;
  });
}
