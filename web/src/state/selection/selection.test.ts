import { describe, expect, test } from "vitest";
import { columnsOf, evaluate, type Cells, type Source, type Term } from "./terms";
import { fromText, toText } from "./text";

const health = Float32Array.of(100, 80, 15, NaN, 5, 60);
const cells: Cells = {
  rows: 6,
  numbers: (column) => (column === "health" ? health : Float32Array.of(0, 1, 2, 3, 4, 5)),
  places: () => ({ cloud: { xs: Float32Array.of(0, 1, 5), ys: Float32Array.of(0, 1, 5) }, rows: [1, 4, 5] }),
  words: () => ({ codes: Int32Array.of(0, 1, 1, -1, 0, 1), words: ["left", "right"] }),
};
const term = (source: Source, more: Partial<Term> = {}): Term => ({
  operator: "union",
  negated: false,
  name: "a, (b); ∩",
  source,
  ...more,
});
const low: Source = { kind: "range", column: "health", low: null, high: 20 };
const early: Source = { kind: "rows", runs: [[0, 3]] };
const rows = (terms: Term[]) => evaluate(terms, cells).runs();

describe("an expression", () => {
  test("selects what lies in a lasso over a layout, and says which layout it needs", () => {
    const lasso: Source = { kind: "lasso", layout: "00ff", line: [-1, -1, 2, -1, 2, 2, -1, 2] };
    expect(rows([term(lasso)])).toEqual([
      [1, 2],
      [4, 5],
    ]);
    expect(columnsOf([term(lasso)]).layouts).toEqual(["00ff"]);
    expect(fromText(toText([term(lasso)]))).toEqual([term(lasso)]);
    expect(fromText("ul,a,00ff,1_2_3")).toBeNull();
    expect(fromText("ul,a,00ff,1_2_3_4_5_x")).toBeNull();
  });

  test("selects rows by value, by word, by box and by interval; an unknown value is in none", () => {
    expect(rows([term(low)])).toEqual([
      [2, 3],
      [4, 5],
    ]);
    expect(rows([term({ kind: "word", column: "action", words: ["right", "jump"] })])).toEqual([
      [1, 3],
      [5, 6],
    ]);
    const box: Source = {
      kind: "box",
      x: { column: "x", low: 1, high: 4 },
      y: { column: "y", low: 0, high: 3 },
      within: null,
    };
    expect(rows([term(box)])).toEqual([[1, 4]]);
    expect(rows([term({ ...box, within: [3, 6] })])).toEqual([[3, 4]]);
  });

  test("joins terms from left to right", () => {
    expect(rows([term(low), term(early, { operator: "intersection" })])).toEqual([[2, 3]]);
    expect(rows([term(early), term(low, { operator: "difference" })])).toEqual([[0, 2]]);
    expect(rows([term(early, { negated: true })])).toEqual([[3, 6]]);
    const group = term({ kind: "group", terms: [term(early), term(low)] }, { negated: true });
    expect(rows([group])).toEqual([
      [3, 4],
      [5, 6],
    ]);
  });

  test("names the columns it reads, also inside groups", () => {
    const inner = term({ kind: "word", column: "action", words: [] });
    expect(columnsOf([term(low), term({ kind: "group", terms: [inner] })])).toEqual({
      numbers: ["health"],
      words: ["action"],
      layouts: [],
    });
  });
});

describe("as text", () => {
  test("every kind comes back as it was", () => {
    const terms: Term[] = [
      term({
        kind: "rows",
        runs: [
          [10, 110],
          [1_000_000, 1_000_001],
        ],
      }),
      term({ kind: "range", column: "a,b;(c)", low: -1.5, high: null }, { operator: "intersection", negated: true }),
      term({ kind: "word", column: "action", words: ["forward+left", "x,y"] }, { operator: "difference" }),
      term({
        kind: "box",
        x: { column: "x", low: -3, high: 4.25 },
        y: { column: "y", low: 0, high: 1e6 },
        within: [36, 72],
      }),
      term({ kind: "group", terms: [term(low), term({ kind: "group", terms: [term(early)] })] }),
    ];
    expect(fromText(toText(terms))).toEqual(terms);
    expect(fromText("")).toEqual([]);
  });

  test("is short", () => {
    expect(toText([term(early, { name: "early" })])).toBe("ur,early,0-3");
    expect(toText([term(low, { name: "low" })])).toBe("uv,low,health,,20");
  });

  test("text that is not ours gives null, not an exception", () => {
    for (const bad of ["x", "uq,name,1", "ur,n,-5--1", "ug,n,(uv", "ur", "ur,%E0%A4%A,0-3", "uv,n,c,nope,1"])
      expect(fromText(bad)).toBeNull();
  });
});
