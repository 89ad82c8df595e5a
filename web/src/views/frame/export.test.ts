import { expect, test } from "vitest";
import { count, duration, number, percent } from "../../state/format";
import { toCsv } from "./export";

test("cells are quoted, unknown numbers are empty, and formulas stay text", () => {
  const text = toCsv([
    ["step", 'say "hi", you'],
    [1, NaN],
    [2, "=1+1"],
    [3, -1.5],
  ]);
  expect(text).toBe('step,"say ""hi"", you"\r\n1,\r\n2,\'=1+1\r\n3,-1.5\r\n');
});

test("numbers are short and signs are real signs", () => {
  expect([0, 0.1234, -1.5, 12.34, 1234.5, 98765, 0.002567, 1e-5, NaN].map(number)).toEqual([
    "0",
    "0.123",
    "−1.5",
    "12.3",
    "1235",
    "98,765",
    "0.00257",
    "1.00e−5",
    "–",
  ]);
  expect(percent(0.333)).toBe("33 %");
  expect(count(1_000_000)).toBe("1,000,000");
  expect([0.2, 59, 90, 7200].map(duration)).toEqual(["1 s", "59 s", "2 min", "2.0 h"]);
});
