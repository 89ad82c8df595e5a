import { describe, expect, test } from "vitest";
import { cameraFrom, cameraText, drawOrder, layoutFrom, pointNear, pointsOf } from "./layout";

const slice = (values: number[], shape: number[]) => ({ shape, dtype: "float32", values: Float32Array.from(values) });
const rows = [0, 2, 4, 10, 12];
const layout = layoutFrom(
  "a",
  slice(
    rows.flatMap((r) => [r, -r]),
    [5, 2],
  ),
  slice(rows, [5]),
  false,
);
const group = { index: 1, label: "1", start: 8, stop: 20, outcome: "", total: 0, scene: "" };

describe("a layout", () => {
  test("knows the points of an episode and of a row", () => {
    expect(pointsOf(layout, group)).toEqual([3, 5]);
    expect(pointNear(layout, 10, group)).toEqual({ point: 3, exact: true });
    expect(pointNear(layout, 19, group)).toEqual({ point: 4, exact: false });
    expect(pointNear(layout, 8, group)).toEqual({ point: 3, exact: false });
    expect(pointNear(layout, 30, { ...group, start: 25, stop: 40 })).toEqual({ point: -1, exact: false });
  });

  test("draws every point once, chosen ones last", () => {
    for (const count of [1, 2, 9, 100, 1001]) {
      const order = drawOrder(count, (point) => point % 3 === 0);
      expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
      const first = order.findIndex((point) => point % 3 === 0);
      expect(order.slice(first).every((point) => point % 3 === 0)).toBe(true);
    }
  });

  test("its camera survives the address; nonsense shows the whole", () => {
    const whole = { x: 1, y: 2, scale: 10 };
    expect(cameraFrom(cameraText({ x: 3.5, y: -2, scale: 40 }, whole), whole)).toEqual({ x: 3.5, y: -2, scale: 40 });
    for (const text of ["", "a;b;c", "1;2", "1;2;0"]) expect(cameraFrom(text, whole)).toBe(whole);
  });
});
