/** Where to begin with what an agent sees: where its advantage was large, and what ended its failures. */
import { numbersOf } from "../../api/data/columns";
import type { RecordingInfo } from "../../api/model";
import { number } from "../../state/format";
import type { Group } from "../../state/recording/groups";
import { best, wanted, type Candidate, type Measure } from "../../state/begin/ranking";

export function measuresOfVision(info: RecordingInfo): Measure[] {
  const has = info.columns.some((column) => column.name === "advantage");
  const ends = info.ordering !== null && info.group_columns.some((column) => column.name === "outcome");
  return [...(has ? [advantage(-1), advantage(1)] : []), ...(ends ? [failures()] : [])];
}

function advantage(sign: 1 | -1): Measure {
  const better = sign > 0;
  return {
    name: better ? "advantage-high" : "advantage-low",
    title: better ? "highest advantage" : "lowest advantage",
    explains: `steps after which things went ${better ? "better" : "worse"} than it expected, one an episode`,
    columns: ["advantage"],
    rank: (columns, groups, within) => {
      const values = numbersOf(columns("advantage"));
      const rows = best(values.length, groups, within, (row) => sign * values[row]!);
      return rows
        .filter((row) => sign * values[row]! > 0)
        .map((row) => ({
          row,
          score: `${values[row]! > 0 ? "+" : ""}${number(values[row]!)}`,
          why: ending(groups.of(row), row) || (better ? "better than expected" : "worse than expected"),
        }));
    },
  };
}

/** How long before the end, and which end. */
function ending(group: Group | undefined, row: number): string {
  if (!group?.outcome) return "";
  const before = group.stop - 1 - row;
  return before ? `${before} before ${group.outcome}` : `then ${group.outcome}`;
}

const well = /\b(coin|completed?|success|won|wins?|goal|reached|solved|correct|survived)\b/i;
const late = /\b(time|limit|truncated)\b/i;

/** Last steps of episodes that did not end well, by what ended them: frequent causes first, running out of time last. */
function failures(): Measure {
  return {
    name: "failures",
    title: "failures, by cause",
    explains: "the last step of each episode that did not end well, grouped by what ended it",
    columns: [],
    rank: (_columns, groups, within) => {
      const causes = new Map<string, Group[]>();
      for (const group of groups.all) {
        if (!group.outcome || well.test(group.outcome)) continue;
        if (within && within.count(group.start, group.stop) === 0) continue;
        causes.set(group.outcome, [...(causes.get(group.outcome) ?? []), group]);
      }
      const order = [...causes].sort(
        ([a, mine], [b, theirs]) => Number(late.test(a)) - Number(late.test(b)) || theirs.length - mine.length,
      );
      const each = Math.max(3, Math.floor(wanted / Math.max(1, order.length)));
      return order.flatMap(([cause, ended]) =>
        ended.slice(0, each).map((group) => failure(cause, ended.length, group)),
      );
    },
  };
}

const failure = (cause: string, often: number, group: Group): Candidate => ({
  row: group.stop - 1,
  score: Number.isNaN(group.total) ? "" : number(group.total),
  why: `after ${group.stop - group.start}`,
  under: `${cause} · ${often}`,
});
