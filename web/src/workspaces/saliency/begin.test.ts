import { expect, test } from "vitest";
import type { ColumnData } from "../../api/data/columns";
import type { RecordingInfo } from "../../api/model";
import { Groups } from "../../state/recording/groups";
import { measuresOfSaliency } from "./begin";

const group = (index: number) => ({
  ...{ index, label: String(index), start: index * 3, stop: index * 3 + 3, outcome: "", total: 0, scene: "" },
});
const groups = new Groups([group(0), group(1)]);
const info = (lacks: Record<string, string>) => ({ ordering: {}, capabilities: { lacks } }) as unknown as RecordingInfo;
const data: Record<string, number[]> = {
  "disagreement of methods": [0.2, 0.9, 0.1, 0.3, NaN, 0.4],
  "jump of attention": [NaN, 0.5, 0.2, NaN, 0.1, 0.7],
  "unusual class": [1, 2, NaN, 3, 0, 0],
  class: [1, 2, 0, 1, 0, 0],
};
const read = (name: string): ColumnData => ({ type: "number", values: Float32Array.from(data[name]!) });
const rank = (name: string) =>
  measuresOfSaliency(info({}))
    .find((measure) => measure.name === name)!
    .rank(read, groups, null, { methods: ["gradient", "guided"], classes: ["ground", "saw", "coin"] });

test("rows come by what the lens says of them, at most one an episode", () => {
  expect(rank("disagree")).toEqual([
    { row: 1, score: "0.9", why: "gradient, guided" },
    { row: 5, score: "0.4", why: "gradient, guided" },
  ]);
  expect(rank("jump").map(({ row }) => row)).toEqual([5, 1]);
  expect(rank("unusual-class").map(({ row, why }) => [row, why])).toEqual([
    [3, "saw"],
    [1, "coin"],
  ]);
});

test("without classes in view none can be unusual, and without a model there is nothing to rank", () => {
  expect(measuresOfSaliency(info({ classes: "no masks" })).map(({ name }) => name)).toEqual(["disagree", "jump"]);
  expect(measuresOfSaliency(info({ moments: "no model" }))).toEqual([]);
});
