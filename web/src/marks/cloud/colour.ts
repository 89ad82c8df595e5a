/** A colour for every point by the value of a column: numbers along a ramp, words as they look in every view. */
import type { Palette } from "../colour/colour";
import type { Look, Texture } from "../colour/names";

export type Values =
  | { readonly type: "none" }
  | { readonly type: "numbers"; readonly values: ArrayLike<number> }
  | {
      readonly type: "words";
      readonly codes: ArrayLike<number>;
      readonly words: readonly string[];
      /** Of what kind the words are. */
      readonly kind: string;
      /** Each is known by its place rather than its word. */
      readonly numbered?: boolean;
    };

export type Legend =
  | { readonly type: "none" }
  | { readonly type: "ramp"; readonly low: number; readonly high: number; readonly stops: readonly string[] }
  | { readonly type: "words"; readonly words: readonly Word[] };

interface Word {
  readonly code: number;
  readonly name: string;
  readonly kind: string;
  /** What the registry of colours knows it by. */
  readonly known: string | number;
}

/** Numbers that ascend from nothing: colours that can be told apart on white and on black. */
const ascending = ["#4053d3", "#1f8fb8", "#3fae8a", "#9cbf3f", "#efa31d"] as const;
/** Neither here nor there: zero, or not known. */
const grey = "#a8adb5";

export interface Coloured {
  /** 0xBBGGRR per row asked for. */
  readonly colours: Uint32Array;
  /** Its texture per row asked for, where any has one. */
  readonly textures: Uint8Array | null;
  readonly legend: Legend;
}

/** Colours for some rows; a value that is not known is grey. */
export function colourRows(
  values: Values,
  rows: ArrayLike<number>,
  palette: Palette,
  look: (kind: string, name: string | number) => Look,
): Coloured {
  const colours = new Uint32Array(rows.length);
  if (values.type === "none")
    return { colours: colours.fill(packed(palette.accent)), textures: null, legend: { type: "none" } };
  if (values.type === "words") return byWord(values, rows, look, colours);
  return colourNumbers(values.values, rows, palette);
}

/** Colours along a ramp for the numbers of some rows. */
export function colourNumbers(values: ArrayLike<number>, rows: ArrayLike<number>, palette: Palette): Coloured {
  const colours = new Uint32Array(rows.length);
  const { low, high } = typicalRange(values, rows);
  const signed = low < 0 && high > 0;
  const stops = signed ? [palette.negative, grey, palette.positive] : [...ascending];
  const [from, to] = signed ? [-Math.max(-low, high), Math.max(-low, high)] : [low, high];
  const ramp = rampOf(stops, 257);
  const unknown = packed(grey);
  for (let i = 0; i < rows.length; i++) {
    const t = ((values[rows[i]!] ?? NaN) - from) / Math.max(to - from, 1e-12);
    colours[i] = Number.isNaN(t) ? unknown : ramp[Math.max(0, Math.min(256, Math.round(t * 256)))]!;
  }
  return { colours, textures: null, legend: { type: "ramp", low: from, high: to, stops } };
}

/** Words look as in every view; values that are not known are grey. */
function byWord(
  { codes, words, kind, numbered }: Extract<Values, { type: "words" }>,
  rows: ArrayLike<number>,
  look: (kind: string, name: string | number) => Look,
  colours: Uint32Array,
): Coloured {
  const there = new Set<number>();
  for (let i = 0; i < rows.length; i++) {
    const code = codes[rows[i]!] ?? -1;
    if (words[code] !== undefined) there.add(code);
  }
  const all = [...there]
    .sort((a, b) => a - b)
    .map((code) => ({ code, name: words[code]!, kind, known: numbered ? code : words[code]! }));
  const looks = new Map<number, { colour: number; texture: Texture }>();
  for (const { code, known } of all) {
    const { colour, texture } = look(kind, known);
    looks.set(code, { colour: packed(colour), texture });
  }
  const textures = new Uint8Array(rows.length);
  const unknown = packed(grey);
  for (let i = 0; i < rows.length; i++) {
    const own = looks.get(codes[rows[i]!] ?? -1);
    colours[i] = own?.colour ?? unknown;
    textures[i] = own?.texture ?? 0;
  }
  const textured = [...looks.values()].some(({ texture }) => texture > 0);
  return { colours, textures: textured ? textures : null, legend: { type: "words", words: all } };
}

/** Between the 1st and the 99th of a hundred values: one outlier must not make all others look the same. */
export function typicalRange(values: ArrayLike<number>, rows: ArrayLike<number>): { low: number; high: number } {
  const every = Math.max(1, Math.floor(rows.length / 20_000));
  const some: number[] = [];
  for (let i = 0; i < rows.length; i += every) {
    const value = values[rows[i]!] ?? NaN;
    if (Number.isFinite(value)) some.push(value);
  }
  if (!some.length) return { low: 0, high: 1 };
  const sorted = Float64Array.from(some).sort();
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))]!;
  const [low, high] = [at(0.01), at(0.99)];
  return low < high ? { low, high } : { low: low - 0.5, high: high + 0.5 };
}

function rampOf(stops: readonly string[], count: number): Uint32Array {
  const corners = stops.map(channels);
  return Uint32Array.from({ length: count }, (_, i) => {
    const at = (i / (count - 1)) * (corners.length - 1);
    const k = Math.min(corners.length - 2, Math.floor(at));
    const mixed = [0, 1, 2].map((c) =>
      Math.round(corners[k]![c]! + (corners[k + 1]![c]! - corners[k]![c]!) * (at - k)),
    );
    return (mixed[2]! << 16) | (mixed[1]! << 8) | mixed[0]!;
  });
}

/** #rgb or #rrggbb as 0xBBGGRR. */
export function packed(colour: string): number {
  const [r, g, b] = channels(colour);
  return (b << 16) | (g << 8) | r;
}

function channels(colour: string): [number, number, number] {
  const text = colour.replace("#", "");
  const full = text.length === 3 ? [...text].map((c) => c + c).join("") : text;
  const value = parseInt(full, 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}
