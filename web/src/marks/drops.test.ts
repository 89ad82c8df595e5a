import { describe, expect, test } from "vitest";
import { crowdOf, dropHeight, dropWidth, edge, fieldOf, opacityOf, rgbOf, striped, type Drops } from "./drops";

const size = 9;
const pixels = 20;
function drops(cells: Record<number, number>): Drops {
  const amounts = new Float32Array(size * size);
  for (const [cell, amount] of Object.entries(cells)) amounts[Number(cell)] = amount;
  const receptive_field = { first: [0.5 / size, 0.5 / size], stride: [1 / size, 1 / size] } as const;
  return { amounts, height: size, width: size, receptive_field, colours: [[255, 0, 0]], shown: () => true };
}
function area(cells: Record<number, number>, sign: 1 | -1 = 1): number {
  const field = new Float32Array((size * pixels) ** 2);
  fieldOf(drops(cells), 0, sign, pixels, field);
  return field.filter((value) => value > edge).length;
}
const middle = 4 * size + 4;

describe("drops", () => {
  test("a stronger one takes up more room, nearly in proportion", () => {
    const areas = [1, 0.75, 0.5, 0.25].map((strength) => area({ [middle]: strength }));
    const shares = areas.map((size) => size / areas[0]!);
    expect(shares[1]).toBeCloseTo(0.87, 1);
    expect(shares[2]).toBeCloseTo(0.66, 1);
    expect(shares[3]).toBeCloseTo(0.34, 1);
  });

  test("take the same share of the picture in a coarse and in a fine layer", () => {
    expect(dropWidth(64) / 64).toBeCloseTo(dropWidth(32) / 32);
    expect(dropWidth(8)).toBe(0.55);
  });

  test("one that stands alone keeps its height, one of a crowd is lower", () => {
    const [alone, all] = [new Float32Array(size * size), new Float32Array(size * size).fill(0.5)];
    alone[middle] = 0.2;
    all[middle] = 0.51;
    expect(crowdOf(alone, size, 1)).toBeCloseTo(1);
    expect(crowdOf(all, size, 1)).toBeCloseTo(2 * Math.PI * (0.5 / 0.51), 1);
    expect(dropHeight(1)).toBe(1);
    expect(dropHeight(crowdOf(all, size, 1))).toBeLessThan(0.5);
    expect(crowdOf(new Float32Array(size * size), size, 1)).toBe(0);
  });

  test("lie where their cells look", () => {
    const field = new Float32Array((size * pixels) ** 2);
    const receptive_field = { first: [0.25, 0.3], stride: [0.05, 0.05] } as const;
    fieldOf({ ...drops({ [2 * size + 4]: 1 }), receptive_field }, 0, 1, pixels, field);
    const at = field.indexOf(Math.max(...field));
    const side = size * pixels;
    expect((Math.floor(at / side) + 0.5) / side).toBeCloseTo(0.25 + 2 * 0.05, 2);
    expect(((at % side) + 0.5) / side).toBeCloseTo(0.3 + 4 * 0.05, 2);
  });

  test("good and bad news are apart", () => {
    const both = { [middle]: 1, 10: -0.5 };
    expect(area(both)).toBe(area({ [middle]: 1 }));
    expect(area(both, -1)).toBe(area({ 10: 0.5 }));
    expect(area({ 10: -0.5 })).toBe(0);
  });

  test("neighbours run together and are larger than one alone", () => {
    const pair = area({ [middle]: 0.4, [middle + 1]: 0.4 });
    expect(pair).toBeGreaterThan(1.5 * area({ [middle]: 0.4 }));
  });

  test("dust is left out, and nothing grows without bound", () => {
    expect(area({ [middle]: 0.01 })).toBe(0);
    expect(area({ [middle]: 100 })).toBe(area({ [middle]: 4 }));
  });

  test("the picture is seen through a drop but not through its rim", () => {
    expect(opacityOf(0)).toBe(0);
    expect(opacityOf(1.2 * edge)).toBe(0.95);
    expect(opacityOf(1)).toBeLessThan(0.8);
  });

  test("factors that share a colour are told apart by stripes", () => {
    const kept = (texture: number): number[] => Array.from({ length: 10 }, (_, line) => striped(texture, line));
    expect(new Set(kept(0))).toEqual(new Set([1]));
    expect(new Set(kept(1)).size).toBe(2);
    expect(kept(2)).not.toEqual(kept(1));
  });

  test("colours are read as they are written", () => {
    expect(rgbOf("#ff725c")).toEqual([255, 114, 92]);
  });
});
