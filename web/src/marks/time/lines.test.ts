import { expect, test } from "vitest";
import type { Palette } from "../colour/colour";
import type { Pen } from "../pen/pen";
import { drawEdge } from "./lines";

test("an element that never changes has the longest bar of those that are stable", () => {
  const widths: number[] = [];
  const pen = { fillRect: (_x: number, _y: number, width: number) => widths.push(width), fillText: () => 0 };
  const edge = { order: [2, 0, 1], top: 0, bottom: 3, label: String, chosen: new Set<number>(), pointed: null };
  const draw = (scores: number[]): number[] => {
    widths.length = 0;
    drawEdge(pen as unknown as Pen, { width: 80, height: 60 }, { ...edge, scores }, {} as Palette);
    return [...widths];
  };
  expect(draw([4, 1, Infinity])).toEqual([34, 34, 8.5]);
  expect(draw([0, 0, Infinity])).toEqual([34]);
  expect(draw([0, 0, 0])).toEqual([]);
});
