import { describe, expect, test } from "vitest";
import type { ColumnData } from "../../api/data/columns";
import type { Column, RecordingInfo } from "../../api/model";
import { Bitset } from "../selection/bitset";
import { Groups } from "../recording/groups";
import { measuresFor } from "./measures";

const column = (name: string, more: Partial<Column> = {}): Column => ({
  name,
  type: "float",
  kind: "fact",
  unit: "",
  label: "",
  description: "",
  categories: [],
  derived: "",
  domain: "",
  pair: "",
  warning: "",
  named_by: "",
  pose: "",
  ...more,
});
const group = (index: number, outcome: string, total: number) => ({
  index,
  label: String(index),
  start: index * 4,
  stop: index * 4 + 4,
  outcome,
  total,
  scene: "",
});
const groups = new Groups([group(0, "died", 2), group(1, "time limit", 9), group(2, "wrong item", 1)]);
const info = {
  ordering: { group: "episode", time: "step" },
  columns: [column("memory change"), column("memory jumps"), column("hit", { kind: "event" }), column("loop")],
  group_columns: [column("outcome", { type: "text" })],
} as unknown as RecordingInfo;
const data: Record<string, number[]> = {
  "memory change": [NaN, 1, 1, 9, NaN, 1, 5, 1, NaN, 1, 1, 1],
  "memory jumps": [NaN, 0, 0, 52, NaN, 0, 7, 0, NaN, 0, 0, 0],
  hit: [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  loop: [0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0],
};
const read = (name: string): ColumnData => ({ type: "number", values: Float32Array.from(data[name]!) });
const rank = (name: string, within: Bitset | null = null) =>
  measuresFor(info)
    .find((measure) => measure.name === name)!
    .rank(read, groups, within);

describe("where to begin", () => {
  test("sudden memory changes are told in deviations, with what jumped and what had happened", () => {
    const found = rank("sudden");
    expect(found.map(({ row }) => row)).toEqual([3, 6, 9]);
    expect(found[0]!.why).toBe("52 elements jump; hit");
    const known = data["memory change"]!.filter((v) => !Number.isNaN(v));
    const mean = known.reduce((a, b) => a + b) / known.length;
    const deviation = Math.sqrt(known.reduce((sum, v) => sum + (v - mean) ** 2, 0) / known.length);
    expect(found[0]!.score).toBe(`${+((9 - mean) / deviation).toFixed(2)}σ`);
  });

  test("loops are ranked by the length of the way back", () => {
    expect(rank("loops").map(({ row, score }) => [row, score])).toEqual([
      [2, "2"],
      [5, "1"],
    ]);
  });

  test("bad ends come lowest return first, and only selected ones while something is selected", () => {
    expect(rank("bad-ends").map(({ row, why }) => [row, why])).toEqual([
      [11, "wrong item after 4"],
      [3, "died after 4"],
    ]);
    expect(rank("bad-ends", Bitset.ofRuns(12, [[0, 2]])).map(({ row }) => row)).toEqual([3]);
  });

  test("a memory that never moves has no sudden changes", () => {
    data["memory change"] = data["memory change"]!.map((v) => (Number.isNaN(v) ? v : 1));
    expect(rank("sudden")).toEqual([]);
  });
});

test("the TD error is the column of the service, and is computed nowhere else", () => {
  const both = [column("value"), column("reward")];
  const names = (columns: Column[]): string[] => measuresFor({ ...info, columns }).map((measure) => measure.name);
  expect(names(both)).not.toContain("td-error");
  const told = { ...info, columns: [...both, column("TD error")] };
  const measure = measuresFor(told).find(({ name }) => name === "td-error")!;
  const values = Float32Array.from([0, 0.5, -2, NaN, 0, 0, 0, NaN, 0, 0, 0, NaN]);
  const read = (): ColumnData => ({ type: "number", values });
  expect(measure.rank(read, groups, null)[0]).toMatchObject({ row: 2, score: "−2" });
});
