/** For each part of the picture, where a factor responded most: fetched once for a result, when somebody looks. */
import { messageOf } from "../../api/errors";
import type { Results } from "../../state/results/results.svelte";

export interface PlaceMap {
  /** [factor, sign, side, side]. */
  readonly cells: ArrayLike<number>;
  readonly rows: ArrayLike<number>;
  /** Cells along a side. */
  readonly side: number;
}

export class PlaceMapOf {
  problem = $state("");
  private found = $state.raw<{ of: string; map: PlaceMap } | null>(null);
  private asked = "";

  constructor(private readonly results: Results) {}

  get(id: string | undefined): PlaceMap | null {
    return this.found && this.found.of === id ? this.found.map : null;
  }

  async want(id: string): Promise<void> {
    if (this.asked === id) return;
    this.asked = id;
    this.problem = "";
    try {
      const [cells, rows] = await Promise.all([this.results.array(id, "cells"), this.results.array(id, "cell_rows")]);
      const map = { cells: cells.values, rows: rows.values, side: cells.shape.at(-1) ?? 8 };
      if (this.asked === id) this.found = { of: id, map };
    } catch (problem) {
      if (this.asked === id) [this.problem, this.asked] = [messageOf(problem), ""];
    }
  }
}
