/** 16-bit floats as the GPU takes them, read by a table. */
let table: Float32Array | null = null;

export function halves(): Float32Array {
  table ??= Float32Array.from({ length: 65536 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
  return table;
}

/** One value of packed or plain numbers. */
export function valueAt(values: Float32Array | Uint16Array, index: number): number {
  return values instanceof Uint16Array ? halves()[values[index]!]! : values[index]!;
}
