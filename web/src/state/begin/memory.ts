/** Where to begin with a memory: sudden changes, ways that come back, and episodes that end badly. */
import { numbersOf, type Numbers } from "../../api/data/columns";
import type { Column, RecordingInfo } from "../../api/model";
import { isEvent, number, titleOf } from "../format";
import { best, wanted, type Measure } from "./ranking";

const change = /^memory change( .*)?$/;
const maxEvents = 6;

/** One measure per memory: how far a row's change lies above what is usual in this recording, in deviations. */
export function suddenChanges(info: RecordingInfo): Measure[] {
  const events = info.columns.filter(isEvent).slice(0, maxEvents);
  return info.columns.filter((column) => change.test(column.name)).map((column) => sudden(column, info, events));
}

function sudden(column: Column, info: RecordingInfo, events: readonly Column[]): Measure {
  const site = column.name.replace(/^memory change ?/, "");
  const jumps = info.columns.find(({ name }) => name === `memory jumps${site && ` ${site}`}`);
  return {
    name: `sudden${site && `.${site}`}`,
    title: `sudden memory changes${site && ` (${site})`}`,
    explains: "how far the memory moved in one step, in standard deviations above the recording's mean",
    columns: [column.name, ...(jumps ? [jumps.name] : []), ...events.map((event) => event.name)],
    rank: (columns, groups, within) => {
      const moved = numbersOf(columns(column.name));
      const jumped = jumps && numbersOf(columns(jumps.name));
      const happened = events.map((event) => ({ event, values: numbersOf(columns(event.name)) }));
      const { mean, deviation } = spreadOf(moved);
      if (!(deviation > 0)) return [];
      const rows = best(moved.length, groups, within, (row) => moved[row]! - mean);
      return rows.map((row) => {
        // What an action caused stands in its row; the memory sees it one step later.
        const caused = happened.filter(({ values }) => values[row]! > 0 || (row > 0 && values[row - 1]! > 0));
        const after = groups.of(row)?.start === row ? [] : caused.map(({ event }) => titleOf(event));
        const told = jumped ? [`${number(jumped[row]!)} elements jump`] : [`moved by ${number(moved[row]!)}`];
        return { row, score: `${number((moved[row]! - mean) / deviation)}σ`, why: [...told, ...after].join("; ") };
      });
    },
  };
}

export function spreadOf(values: Numbers): { mean: number; deviation: number } {
  let count = 0;
  let mean = 0;
  let squares = 0;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    const off = value - mean;
    mean += off / ++count;
    squares += off * (value - mean);
  }
  return { mean, deviation: count > 1 ? Math.sqrt(squares / count) : 0 };
}

/** The longest stretch of each episode on ways that it went before. */
export function loops(): Measure {
  return {
    name: "loops",
    title: "loops in the trajectory",
    explains: "where it comes back to a place that it had left, longest way on its own tracks first",
    columns: ["loop"],
    rank: (columns, groups, within) => {
      const looping = numbersOf(columns("loop"));
      const lengths = new Map<number, number>();
      for (const group of groups.all) {
        for (let row = group.start; row < group.stop; row++) {
          if (!(looping[row]! > 0)) continue;
          const from = row;
          while (row + 1 < group.stop && looping[row + 1]! > 0) row++;
          lengths.set(from, row + 1 - from);
        }
      }
      const rows = best(looping.length, groups, within, (row) => lengths.get(row) ?? NaN);
      return rows.map((row) => ({
        row,
        score: String(lengths.get(row)),
        why: `${lengths.get(row) === 1 ? "a step" : `${lengths.get(row)} steps`} on its own tracks`,
      }));
    },
  };
}

const bad = /\b(died?|dead|death|kill|killed|wrong|lost|lose|fail|failed|failure|crash|crashed|fell|stuck)\b/i;

/** Last steps of episodes whose outcome says that something went wrong, lowest return first. */
export function badEnds(): Measure {
  return {
    name: "bad-ends",
    title: "deaths and other bad ends",
    explains: "last steps of episodes that ended in death or failure, lowest return first",
    columns: [],
    rank: (_columns, groups, within) => {
      const ended = groups.all.filter((group) => bad.test(group.outcome));
      const kept = ended.filter((group) => !within || within.count(group.start, group.stop) > 0);
      const low = (total: number): number => (Number.isNaN(total) ? Infinity : total);
      const order = kept.toSorted((a, b) => low(a.total) - low(b.total) || a.index - b.index);
      return order.slice(0, wanted).map((group) => ({
        row: group.stop - 1,
        score: Number.isNaN(group.total) ? "" : number(group.total),
        why: `${group.outcome} after ${group.stop - group.start}`,
      }));
    },
  };
}
