import { describe, expect, test } from "vitest";
import type { Column } from "../../api/model";
import { Bitset } from "../../state/selection/bitset";
import { Groups } from "../../state/recording/groups";
import { eventsOf, extentOfSpread, measurable, rankedBy, selected, startsOf } from "./align";

const column = (name: string, more: Partial<Column>): Column => ({
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
const columns = [
  column("coin in view", { type: "bool" }),
  column("hit", { type: "bool", kind: "event" }),
  column("health", {}),
  column("action", { type: "int", categories: ["left"] }),
  column("step", { type: "int", kind: "index" }),
];

describe("aligning", () => {
  test("events come first; anything that says yes or no begins at some row", () => {
    expect(eventsOf(columns, true).map(({ name, title }) => [name, title])).toEqual([
      ["hit", "hit"],
      ["coin in view", "coin in view begins"],
      [selected, "starts of the selected intervals"],
    ]);
    expect(measurable(columns).map(({ name }) => name)).toEqual(["coin in view", "hit", "health"]);
  });

  test("a selected stretch begins anew in each episode", () => {
    const group = (index: number) => ({
      index,
      label: "",
      start: index * 5,
      stop: index * 5 + 5,
      outcome: "",
      total: 0,
      scene: "",
    });
    const groups = new Groups([group(0), group(1), group(2)]);
    const rows = Bitset.ofRuns(15, [
      [1, 3],
      [4, 12],
      [13, 15],
    ]);
    expect(startsOf(rows, groups)).toEqual([1, 4, 5, 10, 13]);
  });

  test("elements are ranked by how much they change, whichever way", () => {
    expect(rankedBy([0.1, -3, 2, 0])).toEqual([1, 2, 0, 3]);
  });

  test("a band has room for all of it", () => {
    expect(extentOfSpread({ mean: [1, null], low: [-1, null], high: [4, null] })).toEqual({ low: -1, high: 4 });
    expect(extentOfSpread({ mean: [null], low: [null], high: [null] })).toEqual({ low: 0, high: 1 });
  });
});
