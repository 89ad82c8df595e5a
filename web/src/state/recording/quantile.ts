/** Medians and the like, of all rows or of some; what was sorted once is not sorted again. */
import type { Bitset } from "../selection/bitset";

const whole = new WeakMap<object, Float64Array>();
const parts = new WeakMap<Bitset, WeakMap<object, Float64Array>>();

/** The value that a share of all known values does not exceed; NaN where none is known. */
export function quantile(values: ArrayLike<number>, share: number, within?: Bitset | null): number {
  return atShare(sortedOf(values, within ?? null), share);
}

function atShare(sorted: Float64Array, share: number): number {
  if (!sorted.length) return NaN;
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}

/** Known values, ascending. */
function sortedOf(values: ArrayLike<number>, within: Bitset | null): Float64Array {
  const known = within ? (parts.get(within) ?? new WeakMap<object, Float64Array>()) : whole;
  if (within) parts.set(within, known);
  const here = known.get(values);
  if (here) return here;
  const found = new Float64Array(values.length);
  let count = 0;
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    if (Number.isFinite(value) && (!within || within.has(row))) found[count++] = value;
  }
  const sorted = found.subarray(0, count).sort();
  known.set(values, sorted);
  return sorted;
}

/** The median of each group of rows; NaN where a group has no known value. */
export function mediansBy(
  values: ArrayLike<number>,
  codes: ArrayLike<number>,
  within: Bitset | null,
): Map<number, number> {
  const groups = new Map<number, number[]>();
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]!;
    if (code < 0 || (within && !within.has(row))) continue;
    const value = values[row]!;
    const group = groups.get(code);
    if (!group) groups.set(code, Number.isFinite(value) ? [value] : []);
    else if (Number.isFinite(value)) group.push(value);
  }
  return new Map([...groups].map(([code, some]) => [code, atShare(Float64Array.from(some).sort(), 0.5)]));
}
