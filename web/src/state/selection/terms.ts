/** Selections as expressions: terms joined from left to right by union, intersection and difference. */
import type { Cloud, Polygon } from "../../api/layout";
import { Bitset } from "./bitset";
import { inside } from "./polygon";

export type Operator = "union" | "intersection" | "difference";
export const operators: readonly Operator[] = ["union", "intersection", "difference"];
export const symbols: Record<Operator, string> = { union: "∪", intersection: "∩", difference: "−" };

/** Where the rows of a term come from. A predicate stays a predicate: it holds for rows recorded later, too. */
export type Source =
  | { readonly kind: "rows"; readonly runs: readonly (readonly [number, number])[] }
  | { readonly kind: "range"; readonly column: string; readonly low: number | null; readonly high: number | null }
  | { readonly kind: "word"; readonly column: string; readonly words: readonly string[] }
  | { readonly kind: "box"; readonly x: Span; readonly y: Span; readonly within: readonly [number, number] | null }
  /** What lies inside a line drawn by hand over a layout, told by the id of its result. */
  | { readonly kind: "lasso"; readonly layout: string; readonly line: Polygon }
  | { readonly kind: "group"; readonly terms: readonly Term[] };

export interface Span {
  readonly column: string;
  readonly low: number;
  readonly high: number;
}

export interface Term {
  readonly operator: Operator;
  readonly negated: boolean;
  readonly name: string;
  readonly source: Source;
}

export interface Places {
  readonly cloud: Cloud;
  readonly rows: ArrayLike<number>;
}

/** What evaluation reads: number of a cell (NaN where unknown), word of a cell. */
export interface Cells {
  readonly rows: number;
  numbers(column: string): ArrayLike<number>;
  words(column: string): { codes: ArrayLike<number>; words: readonly string[] };
  /** Where the rows of a layout lie, and which they are. */
  places(layout: string): Places;
  /** Rows that were found before: a source never changes, so it is evaluated once. */
  readonly known?: WeakMap<Source, Bitset>;
}

export function evaluate(terms: readonly Term[], cells: Cells): Bitset {
  let result = new Bitset(cells.rows);
  terms.forEach((term, index) => {
    const plain = rowsOf(term.source, cells);
    const set = term.negated ? plain.complement() : plain;
    result = index === 0 ? set : result[term.operator](set);
  });
  return result;
}

export function rowsOf(source: Source, cells: Cells): Bitset {
  const found = cells.known?.get(source) ?? find(source, cells);
  cells.known?.set(source, found);
  return found;
}

function find(source: Source, cells: Cells): Bitset {
  switch (source.kind) {
    case "rows":
      return Bitset.ofRuns(cells.rows, source.runs);
    case "range":
      return inRange(source, cells);
    case "word":
      return withWord(source, cells);
    case "box":
      return inBox(source, cells);
    case "lasso":
      return inLasso(source, cells);
    case "group":
      return evaluate(source.terms, cells);
  }
}

/** What must be at hand before `evaluate`: columns read as numbers, columns read as words, and layouts. */
export function columnsOf(terms: readonly Term[]): { numbers: string[]; words: string[]; layouts: string[] } {
  const numbers = new Set<string>();
  const words = new Set<string>();
  const layouts = new Set<string>();
  const visit = (source: Source): void => {
    if (source.kind === "range") numbers.add(source.column);
    if (source.kind === "word") words.add(source.column);
    if (source.kind === "box") numbers.add(source.x.column).add(source.y.column);
    if (source.kind === "lasso") layouts.add(source.layout);
    if (source.kind === "group") source.terms.forEach((term) => visit(term.source));
  };
  terms.forEach((term) => visit(term.source));
  return { numbers: [...numbers], words: [...words], layouts: [...layouts] };
}

function inRange(source: Extract<Source, { kind: "range" }>, cells: Cells): Bitset {
  const values = cells.numbers(source.column);
  const low = source.low ?? -Infinity;
  const high = source.high ?? Infinity;
  return Bitset.between(cells.rows, values, low, high);
}

function withWord(source: Extract<Source, { kind: "word" }>, cells: Cells): Bitset {
  const { codes, words } = cells.words(source.column);
  const wanted = new Set(source.words.map((word) => words.indexOf(word)).filter((code) => code >= 0));
  return Bitset.where(cells.rows, (row) => wanted.has(codes[row]!), 0, codes.length);
}

function inBox({ x, y, within }: Extract<Source, { kind: "box" }>, cells: Cells): Bitset {
  const [from, to] = within ?? [0, cells.rows];
  const across = Bitset.between(cells.rows, cells.numbers(x.column), x.low, x.high, from, to);
  return across.intersection(Bitset.between(cells.rows, cells.numbers(y.column), y.low, y.high, from, to));
}

function inLasso({ layout, line }: Extract<Source, { kind: "lasso" }>, cells: Cells): Bitset {
  const { cloud, rows } = cells.places(layout);
  const set = new Bitset(cells.rows);
  for (const point of inside(cloud, line)) set.add(rows[point]!);
  return set;
}
