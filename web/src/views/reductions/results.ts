/** What tables, sweeps and searches for the smallest memory tell. */
import { number } from "../../state/format";

export interface Interval {
  readonly mean: number;
  readonly low: number | null;
  readonly high: number | null;
}

export interface Measured extends Interval {
  /** To full memory, over the same seeds. */
  readonly difference?: Interval;
  readonly ratio?: Interval | null;
}

export interface TableLine {
  readonly name: string;
  readonly note: string;
  /** Elements that are left as they are. */
  readonly kept: number;
  readonly episodes: number;
  readonly measures: Readonly<Record<string, Measured>>;
  readonly outcomes: Readonly<Record<string, Interval & { count: number }>>;
}

export interface Table {
  readonly rows: readonly TableLine[];
  readonly elements: number;
  readonly note: string;
}

/** `494 ± 12`. */
export function around(interval: Interval | undefined): string {
  if (!interval) return "–";
  const { mean, low, high } = interval;
  if (low === null || high === null) return number(mean);
  return `${number(mean)} ± ${number((high - low) / 2)}`;
}

export const percent = (interval: Interval | null | undefined): string =>
  interval ? `${Math.round(interval.mean * 100)} %` : "–";

/** Columns of a table: what was measured in any line, length and return first. */
export function measuresOf(table: Table): string[] {
  return [...new Set(table.rows.flatMap((row) => Object.keys(row.measures)))].filter((name) =>
    table.rows.some((row) => (row.measures[name]?.mean ?? 0) !== 0),
  );
}

export const outcomesOf = (table: Table): string[] => [
  ...new Set(table.rows.flatMap((row) => Object.keys(row.outcomes))),
];

/** Whether a line is told apart from full memory: 0 lies outside the interval of the difference. */
export function differs(measured: Measured | undefined): -1 | 0 | 1 {
  const difference = measured?.difference;
  if (!difference || difference.low === null || difference.high === null) return 0;
  return difference.low > 0 ? 1 : difference.high < 0 ? -1 : 0;
}

export interface Dropped {
  readonly elements: readonly number[];
  readonly effect: number;
  readonly low?: number | null;
  readonly high?: number | null;
  /** Share of decisions whose most likely action became another one. */
  readonly switched?: number;
  /** For pairs: each one's effect, and what the pair does beyond the sum of both. */
  readonly alone?: readonly number[];
  readonly together?: number;
}

export interface Sweep {
  readonly over: "single" | "pairs";
  readonly by: "decisions" | "episodes";
  readonly unit: string;
  /** Largest effect first. */
  readonly ranked: readonly Dropped[];
}

/** One try of a search for the smallest memory. */
export interface Tried extends Interval {
  /** How many elements were left. */
  readonly kept: number;
  readonly went_well: boolean;
  readonly needed: number;
  readonly ratio: Interval | null;
}

export interface SmallestMemory {
  readonly kept: readonly number[];
  readonly elements: number;
  readonly measure: string;
  /** Share of the performance that had to be left. */
  readonly keep: number;
  readonly path: readonly Tried[];
  /** On seeds that the search has not seen. */
  readonly fresh: (Interval & { full: number; episodes: number; ratio: Interval | null }) | null;
}

/** Rows for a CSV file of what is shown. */
export function csvOf(kind: string, value: unknown): (string | number)[][] {
  if (kind === "table") return tableCsv(value as Table);
  if (kind === "sweep") {
    const { ranked, unit } = value as Sweep;
    const lines = ranked.map((each) => [each.elements.join(" "), each.effect, each.switched ?? ""]);
    return [["elements", `effect in ${unit}`, "switched"], ...lines];
  }
  const path = (value as SmallestMemory).path.map((each) => [
    each.kept,
    each.mean,
    each.low ?? "",
    each.high ?? "",
    each.needed,
  ]);
  return [["elements left", (value as SmallestMemory).measure, "low", "high", "needed"], ...path];
}

function tableCsv(table: Table): (string | number)[][] {
  const measures = measuresOf(table);
  const outcomes = outcomesOf(table);
  const head = measures.flatMap((name) => [name, `${name} low`, `${name} high`]);
  const lines = table.rows.map((row) => [
    row.name,
    row.kept,
    ...measures.flatMap((name) => {
      const { mean, low, high } = row.measures[name] ?? { mean: "", low: null, high: null };
      return [mean, low ?? "", high ?? ""];
    }),
    ...outcomes.map((word) => row.outcomes[word]?.mean ?? 0),
  ]);
  return [["memory", "elements left", ...head, ...outcomes.map((word) => `ends: ${word}`)], ...lines];
}
