/** Signed values as colours: blue below zero, orange above, the page's white at zero. */
export type Rgb = readonly [number, number, number];

export interface Diverging {
  readonly negative: Rgb;
  readonly zero: Rgb;
  readonly positive: Rgb;
  /** For what is not known. */
  readonly unknown: Rgb;
}

/** Steps of colour from zero to either end. */
export const packedSteps = 256;
const steps = packedSteps;

/** Blue below zero and orange above, or the other way round. */
export function readDiverging(above: "orange" | "blue" = "orange"): Diverging {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string): Rgb => hex(style.getPropertyValue(`--${name}`).trim());
  const [negative, positive] = above === "blue" ? [get("pos"), get("neg")] : [get("neg"), get("pos")];
  return { negative, zero: get("zero"), positive, unknown: get("edge") };
}

/** The papers' colours for pictures with a sign: red against, green for. */
export const greenAndRed: Pick<Diverging, "negative" | "positive"> = {
  negative: [226, 38, 38],
  positive: [30, 190, 60],
};

/** Short and long hexadecimal colours. */
export function hex(text: string): Rgb {
  const digits = text.replace("#", "");
  const wide = digits.length === 3 ? [...digits].map((d) => d + d).join("") : digits;
  return [0, 2, 4].map((at) => parseInt(wide.slice(at, at + 2), 16)) as unknown as Rgb;
}

/** The colour of a value; beyond the range it does not get stronger. */
export function divergingAt(scale: Diverging, value: number, range: number): Rgb {
  if (Number.isNaN(value)) return scale.unknown;
  const share = Math.max(-1, Math.min(1, value / range));
  const end = share < 0 ? scale.negative : scale.positive;
  return scale.zero.map((from, i) => Math.round(from + (end[i]! - from) * Math.abs(share))) as unknown as Rgb;
}

/** Packed pixels for shares from -1 to 1, and one more for the unknown: for drawing many values without a GPU. */
export function packedScale(scale: Diverging): Uint32Array {
  const table = new Uint32Array(2 * steps + 2);
  const pack = ([r, g, b]: Rgb): number => (255 << 24) | (b << 16) | (g << 8) | r;
  for (let i = 0; i <= 2 * steps; i++) table[i] = pack(divergingAt(scale, i / steps - 1, 1));
  table[2 * steps + 1] = pack(scale.unknown);
  return table;
}

/** A range that is easy to read and holds a value: 1, 2 or 5 times a power of ten; 1 where there is none. */
export function roundRange(largest: number): number {
  if (!(largest > 0 && largest < Infinity)) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((n) => +(n * power).toPrecision(1)).find((n) => n >= largest * 0.999999)!;
}
