/** Where in the picture the cells of a layer look: without padding they keep away from its edges. */
export interface ReceptiveField {
  /** The middle of what the first cell sees, down and across, as shares of the picture. */
  readonly first: readonly [number, number];
  /** From one cell to the next. */
  readonly stride: readonly [number, number];
}

/** As it was found, or evenly: results of before did not tell. */
export function receptiveFieldOf({
  grid,
  receptive_field,
}: {
  grid: readonly [number, number];
  receptive_field?: ReceptiveField | undefined;
}): ReceptiveField {
  const [height, width] = grid;
  return receptive_field ?? { first: [0.5 / height, 0.5 / width], stride: [1 / height, 1 / width] };
}
