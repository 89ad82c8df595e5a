import { describe, expect, it } from "vitest";
import { linesOf, readingAt, tableOf, type Learning } from "./learning";

const rise = { step: 10, low: 1, high: 10 };
const found: Learning = {
  run: "a",
  lens: "guided",
  rows: 8,
  share: 0.25,
  signals: [{ name: "agreement", steps: [0, 10, 100], values: [0, 0.5, 1], low: [0, 0.4, 1], high: [0, 0.6, 1], rise }],
  score: { name: "score", steps: [5, 90], values: [0, 9], rise },
  ratios: [],
  health: [],
  problems: [],
  words: [],
};

describe("a learning signal", () => {
  it("has the score as its last line", () => {
    expect(linesOf(found).map(({ name }) => name)).toEqual(["agreement", "score"]);
    expect(linesOf({ ...found, score: null })).toHaveLength(1);
  });
  it("is read at the nearest step of each line", () => {
    expect(readingAt(linesOf(found), 80)).toEqual([
      { name: "agreement", step: 100, value: 1 },
      { name: "score", step: 90, value: 9 },
    ]);
  });
  it("is saved with its intervals where it has them", () => {
    expect(tableOf(found)[2]).toEqual(["agreement", 10, 0.5, 0.4, 0.6]);
    expect(tableOf(found)).toHaveLength(1 + 3 + 2);
  });
});
