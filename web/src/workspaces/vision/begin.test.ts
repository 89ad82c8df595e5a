import { describe, expect, test } from "vitest";
import type { ColumnData } from "../../api/data/columns";
import type { RecordingInfo } from "../../api/model";
import { Groups } from "../../state/recording/groups";
import { measuresFor } from "../../state/begin/measures";
import { measuresOfVision } from "./begin";

const ends = ["saw", "coin", "time", "saw", "lava"];
const groups = new Groups(
  ends.map((outcome, index) => ({
    index,
    label: String(index),
    start: index * 3,
    stop: index * 3 + 3,
    outcome,
    total: index,
    scene: "",
    seed: null,
  })),
);
const info = {
  ordering: { group: "episode", time: "step" },
  columns: [
    { name: "advantage", type: "float", kind: "decision", unit: "", label: "", description: "", categories: [] },
  ],
  group_columns: [{ name: "outcome", type: "text" }],
} as unknown as RecordingInfo;
const values = [0.1, -0.5, -0.9, 0.2, 0.7, 0.3, 0, 0, 0, 0.1, -0.2, -0.1, 0.05, 0.1, -0.4];
const read = (): ColumnData => ({ type: "number", values: Float32Array.from(values) });
const named = (name: string) => measuresOfVision(info).find((measure) => measure.name === name)!;

describe("where to begin with what it sees", () => {
  test("comes first in its workspace, and only there", () => {
    expect(
      measuresFor(info, measuresOfVision)
        .slice(0, 3)
        .map((m) => m.name),
    ).toEqual(["advantage-low", "advantage-high", "failures"]);
    expect(measuresFor(info).some((m) => m.name === "failures")).toBe(false);
  });

  test("lowest and highest advantage, one an episode, told with what came of it", () => {
    const low = named("advantage-low").rank(read, groups, null);
    expect(low.map((c) => c.row)).toEqual([2, 14, 10]);
    expect(low[0]).toMatchObject({ score: "−0.9", why: "then saw" });
    expect(low[2]!.why).toBe("1 before saw");
    expect(named("advantage-high").rank(read, groups, null)[0]).toMatchObject({ row: 4, score: "+0.7" });
  });

  test("failures stand under their cause, frequent ones first, time last, successes nowhere", () => {
    const found = named("failures").rank(read, groups, null);
    expect(found.map((c) => [c.under, c.row])).toEqual([
      ["saw · 2", 2],
      ["saw · 2", 11],
      ["lava · 1", 14],
      ["time · 1", 8],
    ]);
  });
});
