/** The value that a share of all known values does not exceed; NaN where none is known. */
export function quantile(values: ArrayLike<number>, share: number, within?: (row: number) => boolean): number {
  const known: number[] = [];
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    if (Number.isFinite(value) && (!within || within(row))) known.push(value);
  }
  if (!known.length) return NaN;
  const sorted = Float64Array.from(known).sort();
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}
