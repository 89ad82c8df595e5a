import { expect, test } from "vitest";
import { cellText, sortedLines } from "./lines";

const lines = [
  ["b", 2, null],
  ["a", null, true],
  ["c", -1, false],
];

test("numbers sort by value, words by the alphabet, and what is unknown comes last either way", () => {
  expect(sortedLines(lines, 0, false)).toEqual([1, 0, 2]);
  expect(sortedLines(lines, 1, false)).toEqual([2, 0, 1]);
  expect(sortedLines(lines, 1, true)).toEqual([0, 2, 1]);
  expect(sortedLines(lines, null, true)).toEqual([0, 1, 2]);
});

test("cells say what they hold", () => {
  expect([2, null, true, "word", NaN].map(cellText)).toEqual(["2", "–", "yes", "word", "–"]);
});
