import { describe, expect, test } from "vitest";
import { Bitset } from "./bitset";

const rows = (set: Bitset) => Array.from({ length: set.size }, (_, row) => row).filter((row) => set.has(row));
const of = (size: number, ...members: number[]) => Bitset.where(size, (row) => members.includes(row));

describe("a set of rows", () => {
  test("union, intersection, difference and complement follow set algebra", () => {
    const a = of(70, 0, 31, 32, 69);
    const b = of(70, 31, 33, 69);
    expect(rows(a.union(b))).toEqual([0, 31, 32, 33, 69]);
    expect(rows(a.intersection(b))).toEqual([31, 69]);
    expect(rows(a.difference(b))).toEqual([0, 32]);
    expect(a.complement().count()).toBe(66);
    expect(rows(a.complement().complement())).toEqual(rows(a));
  });

  test("De Morgan holds over random sets of any size", () => {
    for (let size = 1; size < 130; size += 7) {
      const a = Bitset.where(size, () => Math.random() < 0.4);
      const b = Bitset.where(size, () => Math.random() < 0.6);
      const left = a.union(b).complement();
      const right = a.complement().intersection(b.complement());
      expect(rows(left)).toEqual(rows(right));
    }
  });

  test("counts any part", () => {
    const set = Bitset.where(1000, (row) => row % 3 === 0);
    for (const [start, stop] of [
      [0, 1000],
      [5, 6],
      [31, 65],
      [0, 32],
      [999, 1000],
      [64, 64],
    ] as const) {
      const expected = rows(set).filter((row) => row >= start && row < stop).length;
      expect(set.count(start, stop)).toBe(expected);
    }
  });

  test("gives its intervals and can be made from them", () => {
    const runs: [number, number][] = [
      [0, 1],
      [30, 70],
      [99, 100],
    ];
    const set = Bitset.ofRuns(100, runs);
    expect(set.runs()).toEqual(runs);
    expect(set.runs(31, 40)).toEqual([[31, 40]]);
    expect(set.count()).toBe(42);
  });

  test("finds the next row and the next gap", () => {
    const set = Bitset.ofRuns(200, [
      [40, 50],
      [120, 200],
    ]);
    expect(set.next(0)).toBe(40);
    expect(set.next(50)).toBe(120);
    expect(set.nextGap(45)).toBe(50);
    expect(set.nextGap(150)).toBe(200);
  });

  test("filling outside the rows adds nothing", () => {
    const set = new Bitset(10);
    set.fill(-5, 2);
    set.fill(8, 99);
    set.fill(5, 5);
    expect(rows(set)).toEqual([0, 1, 8, 9]);
  });

  test("bounds hold what equals them, also in 32-bit numbers", () => {
    const values = Float32Array.of(0.1, 0.2, 0.3, NaN, 93.8);
    expect(rows(Bitset.between(5, values, 0.1, 0.3))).toEqual([0, 1, 2]);
    expect(rows(Bitset.between(5, values, -Infinity, 93.8))).toEqual([0, 1, 2, 4]);
    expect(rows(Bitset.between(5, [0.1, 0.2, 0.3, NaN, 93.8], 0.2, Infinity))).toEqual([1, 2, 4]);
  });

  test("refuses sets of different recordings", () => {
    expect(() => new Bitset(3).union(new Bitset(4))).toThrow("3 and 4 rows");
  });

  test("handles millions of rows", () => {
    const size = 5_000_000;
    const evens = Bitset.where(size, (row) => row % 2 === 0);
    const half = Bitset.ofRuns(size, [[0, size / 2]]);
    expect(evens.intersection(half).count()).toBe(size / 4);
    expect(evens.union(evens.complement()).count()).toBe(size);
  });
});
