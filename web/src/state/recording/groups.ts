/** The table with one line per group (an episode, say): where its rows are and how it went. */
import { type ColumnData, numbersOf } from "../../api/data/columns";

export interface Group {
  readonly index: number;
  readonly label: string;
  readonly start: number;
  readonly stop: number;
  readonly outcome: string;
  readonly total: number;
  readonly scene: string;
  /** What the world was begun with, where that is known. */
  readonly seed?: number | null;
}

export class Groups {
  constructor(readonly all: readonly Group[]) {}

  get count(): number {
    return this.all.length;
  }

  at(index: number): Group | undefined {
    return this.all[index];
  }

  /** The group that holds a row: groups stand one after another. */
  of(row: number): Group | undefined {
    let low = 0;
    let high = this.all.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const group = this.all[middle]!;
      if (row < group.start) high = middle - 1;
      else if (row >= group.stop) low = middle + 1;
      else return group;
    }
    return undefined;
  }

  /** Groups from the table of the service; rows after the last one belong to a group that is not finished. */
  static from(table: Map<string, ColumnData>, name: string, rows: number): Groups {
    const start = numbersOf(table.get("start") ?? none);
    const stop = numbersOf(table.get("stop") ?? none);
    const label = table.get(name);
    const all = Array.from({ length: start.length }, (_, index): Group => {
      const total = table.get("return");
      return {
        index,
        label: label ? textAt(label, index) : String(index),
        start: start[index]!,
        stop: stop[index]!,
        outcome: textAt(table.get("outcome") ?? none, index),
        total: total ? numbersOf(total)[index]! : NaN,
        scene: textAt(table.get("scene") ?? none, index),
        seed: seedAt(table.get("seed"), index),
      };
    });
    const end = all.at(-1)?.stop ?? 0;
    const open = { label: String(all.length), outcome: "unfinished", total: NaN, scene: all.at(-1)?.scene ?? "" };
    if (end < rows) all.push({ index: all.length, start: end, stop: rows, seed: null, ...open });
    return new Groups(all);
  }
}

/** Groups read off the rows themselves, for when the table of groups cannot be read. */
export function groupsFromRows(data: ColumnData): Groups {
  const values = bridged(numbersOf(data));
  const all: Group[] = [];
  let start = 0;
  for (let row = 1; row <= values.length; row++) {
    if (row < values.length && Object.is(values[row], values[start])) continue;
    const label = Number.isNaN(values[start]!) ? "?" : String(values[start]);
    all.push({ index: all.length, label, start, stop: row, outcome: "", total: NaN, scene: "", seed: null });
    start = row;
  }
  return new Groups(all);
}

/** Unknown rows between two of the same group belong to it. */
function bridged(values: ArrayLike<number>): Float64Array {
  const out = Float64Array.from(values);
  let last = -1;
  for (let row = 0; row < out.length; row++) {
    if (Number.isNaN(out[row]!)) continue;
    if (last >= 0 && out[last] === out[row]) out.fill(out[row]!, last, row);
    last = row;
  }
  return out;
}

function seedAt(data: ColumnData | undefined, index: number): number | null {
  const seed = data && numbersOf(data)[index];
  return seed === undefined || Number.isNaN(seed) ? null : seed;
}

const none: ColumnData = { type: "number", values: new Float32Array(0) };

function textAt(data: ColumnData, index: number): string {
  if (data.type === "text") return data.words[data.codes[index]!] ?? "";
  if (data.type === "objects") return "";
  const value = data.values[index];
  return value === undefined || Number.isNaN(value) ? "" : String(value);
}
