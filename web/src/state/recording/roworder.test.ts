import { expect, test } from "vitest";
import { Bitset } from "../selection/bitset";
import { Groups, groupsFromRows } from "./groups";
import { measuresFor } from "../begin/measures";
import { listed, ordered } from "./roworder";
import type { RecordingInfo } from "../../api/model";

test("rows are listed within a selection and ordered by a column, unknown ones last", () => {
  const rows = listed(
    6,
    Bitset.where(6, (row) => row !== 2),
  );
  expect([...rows]).toEqual([0, 1, 3, 4, 5]);
  const data = { type: "number", values: Float32Array.of(3, 1, 0, NaN, 2, 1) } as const;
  expect([...ordered(rows, data, false)]).toEqual([1, 5, 4, 0, 3]);
  expect([...ordered(rows, data, true)]).toEqual([0, 4, 1, 5, 3]);
  const text = { type: "text", codes: Int32Array.of(0, 1, 0, -1, 0, 1), words: ["z", "a"] } as const;
  expect([...ordered(rows, text, false)]).toEqual([1, 5, 0, 4, 3]);
});

const episodes = new Map([
  ["start", { type: "number", values: Int32Array.of(0, 3) }],
  ["stop", { type: "number", values: Int32Array.of(3, 5) }],
  ["outcome", { type: "text", codes: Int32Array.of(0, 1), words: ["died", "goal"] }],
] as const);

test("a row finds its episode, also in one that is not finished", () => {
  const groups = Groups.from(new Map(episodes), "episode", 8);
  expect(groups.count).toBe(3);
  expect(groups.of(4)?.outcome).toBe("goal");
  expect(groups.of(7)?.outcome).toBe("unfinished");
  expect(groups.of(8)).toBeUndefined();
});

test("without its table, episodes are read off the rows", () => {
  const groups = groupsFromRows({ type: "number", values: Float64Array.of(0, NaN, 0, NaN, NaN, 1) });
  expect(groups.all.map((group) => [group.start, group.stop])).toEqual([
    [0, 3],
    [3, 5],
    [5, 6],
  ]);
});

test("where to begin: the largest drop of value does not reach over the end of an episode", () => {
  const info = {
    ordering: {},
    columns: [{ name: "value", kind: "value", type: "float", categories: [] }],
    group_columns: [],
  };
  const drop = measuresFor(info as unknown as RecordingInfo).find((measure) => measure.name === "drop")!;
  const value = { type: "number", values: Float32Array.of(1, 5, 9, 0, -2) } as const;
  const groups = Groups.from(new Map(episodes), "episode", 5);
  const found = drop.rank(() => value, groups, null);
  expect(found.map((candidate) => candidate.row)).toEqual([3, 0]);
  const within = Bitset.where(5, (row) => row < 3);
  expect(drop.rank(() => value, groups, within).every((candidate) => candidate.row < 3)).toBe(true);
});
