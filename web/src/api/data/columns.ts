/** Columns as typed arrays. Unknown is NaN in numbers, 2 in bools, -1 in words. */
import type { ObjectInView } from "../model";

export type Numbers = Float32Array | Float64Array | Int32Array;

export type ColumnData =
  | { readonly type: "number"; readonly values: Numbers }
  | { readonly type: "bool"; readonly values: Uint8Array }
  | { readonly type: "text"; readonly codes: Int32Array; readonly words: readonly string[] }
  | { readonly type: "objects"; readonly values: readonly (readonly ObjectInView[])[] };

export function lengthOf(data: ColumnData): number {
  return data.type === "text" ? data.codes.length : data.values.length;
}

export function bytesOf(data: ColumnData): number {
  if (data.type === "objects") return data.values.length * 200;
  return data.type === "text" ? data.codes.byteLength : data.values.byteLength;
}

export function part(data: ColumnData, start: number, stop: number): ColumnData {
  switch (data.type) {
    case "number":
      return { type: "number", values: data.values.subarray(start, stop) };
    case "bool":
      return { type: "bool", values: data.values.subarray(start, stop) };
    case "text":
      return { type: "text", codes: data.codes.subarray(start, stop), words: data.words };
    case "objects":
      return { type: "objects", values: data.values.slice(start, stop) };
  }
}

/** A value per row to compute with: bools are 0 and 1, words their codes, objects how many. */
export function numbersOf(data: ColumnData): Numbers {
  if (data.type === "number") return data.values;
  if (data.type === "bool") return Float32Array.from(data.values, (v) => (v === 2 ? NaN : v));
  if (data.type === "text") return data.codes;
  return Float32Array.from(data.values, (list) => list.length);
}

/** Pieces of one column, one after another; a piece that is only a length is a hole of unknown values. */
export function join(pieces: readonly (ColumnData | number)[]): ColumnData {
  const known = pieces.filter((piece) => typeof piece !== "number");
  const [first] = known;
  if (first && pieces.length === 1) return first;
  const total = pieces.reduce<number>((sum, piece) => sum + (typeof piece === "number" ? piece : lengthOf(piece)), 0);
  switch (first?.type) {
    case "bool":
      return { type: "bool", values: fillIn(new Uint8Array(total).fill(2), pieces) };
    case "text":
      return joinText(pieces, total);
    case "objects":
      return { type: "objects", values: pieces.flatMap((p) => (typeof p === "number" ? empty(p) : objectsOf(p))) };
    default:
      return { type: "number", values: fillIn(numbersFor(pieces, total), pieces) };
  }
}

const empty = (count: number): ObjectInView[][] => Array.from({ length: count }, () => []);
const objectsOf = (data: ColumnData) => (data.type === "objects" ? data.values : []);

function numbersFor(pieces: readonly (ColumnData | number)[], total: number): Numbers {
  const all = pieces.every((p) => typeof p !== "number" && p.type === "number" && p.values instanceof Int32Array);
  if (all && pieces.length) return new Int32Array(total);
  const exact = pieces.some((p) => typeof p !== "number" && p.type === "number" && !(p.values instanceof Float32Array));
  return (exact ? new Float64Array(total) : new Float32Array(total)).fill(NaN);
}

function fillIn<T extends Numbers | Uint8Array>(out: T, pieces: readonly (ColumnData | number)[]): T {
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece !== "number" && (piece.type === "number" || piece.type === "bool")) out.set(piece.values, at);
    at += typeof piece === "number" ? piece : lengthOf(piece);
  }
  return out;
}

function joinText(pieces: readonly (ColumnData | number)[], total: number): ColumnData {
  const codes = new Int32Array(total).fill(-1);
  const words: string[] = [];
  const known = new Map<string, number>();
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece !== "number" && piece.type === "text") {
      const map = piece.words.map((word) => {
        if (!known.has(word)) known.set(word, words.push(word) - 1);
        return known.get(word)!;
      });
      piece.codes.forEach((code, i) => (codes[at + i] = map[code] ?? -1));
    }
    at += typeof piece === "number" ? piece : lengthOf(piece);
  }
  return { type: "text", codes, words };
}
