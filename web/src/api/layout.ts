/** A layout as points in a plane. */
export interface Cloud {
  readonly xs: Float32Array;
  readonly ys: Float32Array;
}

/** Corners as x, y, x, y, …, in the plane of the points. */
export type Polygon = readonly number[];

export function cloudFrom(places: ArrayLike<number>): Cloud {
  const count = places.length >>> 1;
  const [xs, ys] = [new Float32Array(count), new Float32Array(count)];
  for (let i = 0; i < count; i++) {
    xs[i] = places[2 * i]!;
    ys[i] = places[2 * i + 1]!;
  }
  return { xs, ys };
}
