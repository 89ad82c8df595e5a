/** How much of each factor is where, row by row: fetched in slices ahead of the cursor, forgotten when not used. */
import { isAbort, messageOf } from "../../api/errors";
import type { Results } from "../results/results.svelte";
import type { ResultRows } from "../results/rows";

/** One row: amounts in the unit of the target, [factor, height, width], and what the factors leave out. */
export interface FactorRow {
  readonly amounts: Float32Array;
  readonly rest: Float32Array;
  /** All good and all bad of each factor, [factor, sign]. */
  readonly totals: ArrayLike<number>;
  /** The strongest amount of the row. */
  readonly most: number;
}

interface Slice {
  readonly amounts: ArrayLike<number>;
  readonly rest: ArrayLike<number>;
  readonly scale: ArrayLike<number>;
  readonly totals: ArrayLike<number>;
}

type Slot = { readonly slice: Slice } | { readonly problem: string } | "coming";

const sliceBytes = 400e3;
const cacheBytes = 48e6;

export class FactorRows {
  private readonly slots = new Map<number, Slot>();
  private readonly each: number;
  private readonly maxSlots: number;

  constructor(
    private readonly results: Results,
    private readonly id: string,
    private readonly rows: ResultRows,
    private readonly shape: { factors: number; cells: number },
    private readonly arrived: () => void,
  ) {
    const bytes = (shape.factors + 1) * shape.cells;
    this.each = Math.max(4, Math.min(128, Math.floor(sliceBytes / bytes)));
    this.maxSlots = Math.max(6, Math.floor(cacheBytes / (4 * bytes * this.each)));
  }

  covers(row: number): boolean {
    return this.rows.placeOf(row) !== null;
  }

  /** The row if it is here; asks for it, and for what follows, if not. */
  at(row: number): FactorRow | null {
    const place = this.rows.placeOf(row);
    if (place === null) return null;
    const index = Math.floor(place / this.each);
    this.ask(index);
    this.ask(index + 1);
    const slot = this.slots.get(index);
    if (!slot || slot === "coming" || "problem" in slot) return null;
    this.slots.delete(index);
    this.slots.set(index, slot);
    return read(slot.slice, place - index * this.each, this.shape);
  }

  problem(row: number): string {
    const slot = this.slots.get(Math.floor((this.rows.placeOf(row) ?? NaN) / this.each));
    return slot && slot !== "coming" && "problem" in slot ? slot.problem : "";
  }

  /** Whether playback may go on to this row. */
  ready(row: number): boolean {
    return !this.covers(row) || this.at(row) !== null || this.problem(row) !== "";
  }

  private ask(index: number): void {
    const start = index * this.each;
    if (start >= this.rows.count || this.slots.has(index)) return;
    this.slots.set(index, "coming");
    const part = { start, stop: start + this.each };
    Promise.all(["amounts", "rest", "scale", "totals"].map((name) => this.results.array(this.id, name, part))).then(
      ([amounts, rest, scale, totals]) =>
        this.settle(index, {
          slice: { amounts: amounts!.values, rest: rest!.values, scale: scale!.values, totals: totals!.values },
        }),
      (problem: unknown) => {
        if (isAbort(problem)) this.slots.delete(index);
        else this.settle(index, { problem: messageOf(problem) });
      },
    );
  }

  private settle(index: number, slot: Slot): void {
    this.slots.set(index, slot);
    for (const [old, other] of this.slots) {
      if (this.slots.size <= this.maxSlots) break;
      if (other !== "coming" && old !== index) this.slots.delete(old);
    }
    this.arrived();
  }
}

/** Bytes to amounts: signed in 127ths of the row's strongest, what is left out in 255ths of its own. */
export function read(slice: Slice, index: number, { factors, cells }: { factors: number; cells: number }): FactorRow {
  const [most, maxRest] = [slice.scale[2 * index] ?? 0, slice.scale[2 * index + 1] ?? 0];
  const size = factors * cells;
  const amounts = Float32Array.from({ length: size }, (_, i) => ((slice.amounts[index * size + i] ?? 0) * most) / 127);
  const rest = Float32Array.from({ length: cells }, (_, i) => ((slice.rest[index * cells + i] ?? 0) * maxRest) / 255);
  // Amounts are rounded to bytes, and many small ones to nothing: sums are told, not made of them.
  const totals = Array.from({ length: 2 * factors }, (_, i) => slice.totals[2 * index * factors + i] ?? 0);
  return { amounts, rest, totals, most };
}
