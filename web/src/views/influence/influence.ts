/** How much the chosen action depended on each element, now and some steps before. */

export interface Influence {
  readonly array: string;
  /** First row and the one after the last. */
  readonly rows: readonly [number, number];
  /** How many steps back each column lies. */
  readonly lags: readonly number[];
  /** [steps, lags, elements], NaN or 0 before the episode began. */
  readonly values: ArrayLike<number>;
  readonly steps: number;
  readonly elements: number;
}

export interface Strengths {
  /** [elements, lags]. */
  readonly cells: Float32Array;
  /** Per element, added up over the lags, whatever the sign. */
  readonly totals: Float32Array;
}

const at = (values: ArrayLike<number>, index: number): number => {
  const value = values[index]!;
  return Number.isFinite(value) ? value : 0;
};

/** One decision, with its signs. */
export function ofStep({ values, lags, elements }: Influence, step: number): Strengths {
  const cells = new Float32Array(elements * lags.length);
  const totals = new Float32Array(elements);
  for (let k = 0; k < lags.length; k++)
    for (let e = 0; e < elements; e++) {
      const value = at(values, (step * lags.length + k) * elements + e);
      cells[e * lags.length + k] = value;
      totals[e]! += Math.abs(value);
    }
  return { cells, totals };
}

/** The mean strength over all decisions; signs would cancel out. */
export function ofEpisode(influence: Influence): Strengths {
  const { values, lags, elements, steps } = influence;
  const cells = new Float32Array(elements * lags.length);
  const totals = new Float32Array(elements);
  for (let t = 0; t < steps; t++)
    for (let k = 0; k < lags.length; k++)
      for (let e = 0; e < elements; e++) {
        const value = Math.abs(at(values, (t * lags.length + k) * elements + e)) / Math.max(1, steps);
        cells[e * lags.length + k]! += value;
        totals[e]! += value;
      }
  return { cells, totals };
}

/** Elements, the strongest first. */
export function ranked(totals: ArrayLike<number>): number[] {
  return Array.from({ length: totals.length }, (_, e) => e).sort((a, b) => totals[b]! - totals[a]! || a - b);
}

/** What counts as full colour: nearly the strongest, so that one spike does not make all else pale. */
export function fullAt(cells: ArrayLike<number>): number {
  const sizes = Float32Array.from(cells, (v) => (Number.isFinite(v) ? Math.abs(v) : 0)).sort();
  return sizes[Math.floor(0.98 * (sizes.length - 1))] || sizes.at(-1) || 1;
}
