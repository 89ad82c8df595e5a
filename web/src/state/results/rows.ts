/** The rows of a recording that a result is about. Its arrays hold a line for each of them, in this order. */
import type { ResultLine } from "../../api/results";
import type { Range } from "../../api/service";

export class ResultRows {
  readonly count: number;
  /** How many rows the ranges before each one hold. */
  private readonly before: readonly number[];

  /** Rows as [start, stop), ascending and apart. */
  constructor(readonly ranges: readonly (readonly [number, number])[]) {
    const before: number[] = [];
    let count = 0;
    for (const [start, stop] of ranges) {
      before.push(count);
      count += stop - start;
    }
    [this.before, this.count] = [before, count];
  }

  /** Where the line of a row stands; null where the result leaves it out. */
  placeOf(row: number): number | null {
    const at = this.ranges.findIndex(([start, stop]) => row >= start && row < stop);
    return at < 0 ? null : this.before[at]! + row - this.ranges[at]![0];
  }

  /** The row of a line. */
  rowOf(place: number): number {
    const at = this.before.findLastIndex((first) => first <= place);
    return this.ranges[at]![0] + place - this.before[at]!;
  }

  /** The lines of those rows that lie from `start` up to `stop`. */
  within(start: number, stop: number): Range | null {
    const cut = this.ranges.flatMap(([from, to], at): Range[] => {
      const [first, last] = [Math.max(from, start), Math.min(to, stop)];
      return first < last ? [{ start: this.before[at]! + first - from, stop: this.before[at]! + last - from }] : [];
    });
    return cut.length ? { start: cut[0]!.start, stop: cut.at(-1)!.stop } : null;
  }

  /** Lines `[place, number]` as rows from the first to the last of them; those in between that were left out are NaN. */
  spread(part: Range, values: ArrayLike<number>): { first: number; values: ArrayLike<number> } {
    const [first, last] = [this.rowOf(part.start), this.rowOf(part.stop - 1)];
    if (last - first === part.stop - part.start - 1) return { first, values };
    const each = values.length / (part.stop - part.start);
    const out = new Float32Array((last - first + 1) * each).fill(NaN);
    for (let place = part.start; place < part.stop; place++)
      for (let k = 0; k < each; k++)
        out[(this.rowOf(place) - first) * each + k] = values[(place - part.start) * each + k]!;
    return { first, values: out };
  }
}

/** The rows that a lens looked at. */
export const rowsOf = (line: Pick<ResultLine, "arguments">): ResultRows =>
  new ResultRows((line.arguments.rows ?? []) as [number, number][]);
