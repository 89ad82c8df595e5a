/** Where to begin: the most telling rows by a named measure. One pass over a few columns; nothing leaves the page. */
import { numbersOf } from "../../api/data/columns";
import type { Column, RecordingInfo } from "../../api/model";
import { isEvent, number, titleOf } from "../format";
import type { Group } from "../recording/groups";
import { badEnds, loops, suddenChanges } from "./memory";
import { best, wanted, type Candidate, type Measure } from "./ranking";

export type { Candidate, Measure };

/** Those of the workspace first. */
export function measuresFor(info: RecordingInfo, own: (info: RecordingInfo) => Measure[] = () => []): Measure[] {
  return [...own(info), ...general(info)];
}

function general(info: RecordingInfo): Measure[] {
  const has = (name: string): Column | undefined => info.columns.find((column) => column.name === name);
  const time = info.ordering !== null;
  const found: Measure[] = [];
  if (has("entropy")) found.push(highest(has("entropy")!, "highest policy entropy"));
  if (time) found.push(...suddenChanges(info));
  if (time && has("loop")) found.push(loops());
  if (time && info.group_columns.some((column) => column.name === "outcome")) found.push(badEnds());
  if (time && has("value")) found.push(valueDrop());
  if (time && has("TD error")) found.push(tdError(has("TD error")!));
  for (const column of info.columns) if (isEvent(column)) found.push(event(column));
  if (time && info.group_columns.some((column) => column.name === "outcome")) found.push(endings());
  if (time && info.group_columns.some((column) => column.name === "return")) found.push(byReturn(1), byReturn(-1));
  const rated = info.columns
    .filter(isMeasured)
    .sort((a, b) => Number(b.kind === "decision") - Number(a.kind === "decision"));
  if (!time) for (const column of rated) found.push(highest(column), lowest(column));
  return found;
}

const isMeasured = (column: Column): boolean =>
  (column.type === "float" || column.type === "int") && column.kind !== "index" && !column.categories.length;

function highest(column: Column, title = `highest ${titleOf(column)}`): Measure {
  return extreme(column, 1, title);
}

function lowest(column: Column): Measure {
  return extreme(column, -1, `lowest ${titleOf(column)}`);
}

function extreme(column: Column, sign: 1 | -1, title: string): Measure {
  return {
    name: `${sign > 0 ? "high" : "low"}.${column.name}`,
    title,
    explains: column.description || `rows by ${titleOf(column)}${column.unit ? ` in ${column.unit}` : ""}`,
    columns: [column.name],
    rank: (columns, groups, within) => {
      const values = numbersOf(columns(column.name));
      const rows = best(values.length, groups, within, (row) => sign * values[row]!);
      return rows.map((row) => ({
        row,
        score: number(values[row]!),
        why: `${titleOf(column)} ${number(values[row]!)} ${column.unit}`,
      }));
    },
  };
}

function valueDrop(): Measure {
  return {
    name: "drop",
    title: "largest drop of value",
    explains: "value here minus value one step later",
    columns: ["value"],
    rank: (columns, groups, within) => {
      const value = numbersOf(columns("value"));
      const drop = (row: number, group?: Group): number =>
        group && row + 1 < group.stop ? value[row]! - value[row + 1]! : NaN;
      return best(value.length, groups, within, drop).map((row) => ({
        row,
        score: `−${number(value[row]! - value[row + 1]!)}`,
        why: `value falls from ${number(value[row]!)} to ${number(value[row + 1]!)}`,
      }));
    },
  };
}

function tdError(column: Column): Measure {
  return {
    name: "td-error",
    title: "largest TD error",
    explains: column.description,
    columns: [column.name],
    rank: (columns, groups, within) => {
      const errors = numbersOf(columns(column.name));
      return best(errors.length, groups, within, (row) => Math.abs(errors[row]!)).map((row) => {
        const off = errors[row]!;
        const why = off > 0 ? "went better than it expected" : "went worse than it expected";
        return { row, score: (off > 0 ? "+" : "−") + number(Math.abs(off)), why };
      });
    },
  };
}

function event(column: Column): Measure {
  return {
    name: `event.${column.name}`,
    title: `event: ${titleOf(column)}`,
    explains: `rows where “${titleOf(column)}” happened, spread over the episodes`,
    columns: [column.name],
    rank: (columns, groups, within) => {
      const values = numbersOf(columns(column.name));
      const happened = (row: number): number => (values[row]! > 0 ? values[row]! : NaN);
      return best(values.length, groups, within, happened).map((row) => ({ row, score: "", why: titleOf(column) }));
    },
  };
}

function endings(): Measure {
  return {
    name: "ends",
    title: "how episodes end",
    explains: "the last step of each episode, rare endings first",
    columns: [],
    rank: (_columns, groups, within) => {
      const often = new Map<string, number>();
      for (const group of groups.all) often.set(group.outcome, (often.get(group.outcome) ?? 0) + 1);
      const kept = groups.all.filter((group) => !within || within.count(group.start, group.stop) > 0);
      const rarest = kept.toSorted((a, b) => often.get(a.outcome)! - often.get(b.outcome)! || a.index - b.index);
      return rarest.slice(0, wanted).map((group) => ({
        row: group.stop - 1,
        score: `${often.get(group.outcome)}×`,
        why: group.outcome || "unknown outcome",
      }));
    },
  };
}

function byReturn(sign: 1 | -1): Measure {
  return {
    name: sign > 0 ? "best" : "worst",
    title: sign > 0 ? "highest return" : "lowest return",
    explains: "sum of rewards over the episode",
    columns: [],
    rank: (_columns, groups, within) => {
      const kept = groups.all.filter((g) => !Number.isNaN(g.total) && (!within || within.count(g.start, g.stop) > 0));
      const order = kept.toSorted((a, b) => sign * (b.total - a.total) || a.index - b.index);
      return order.slice(0, wanted).map((group) => ({
        row: within ? within.next(group.start, group.stop) : group.start,
        score: number(group.total),
        why: `${group.outcome || "ended"} after ${group.stop - group.start}`,
      }));
    },
  };
}
