/** Where in the picture the cells of a layer look: without padding they keep away from its edges. */
export interface ReceptiveField {
  /** The middle of what the first cell sees, down and across, as shares of the picture. */
  readonly first: readonly [number, number];
  /** From one cell to the next. */
  readonly stride: readonly [number, number];
}
