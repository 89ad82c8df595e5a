import { describe, expect, test } from "vitest";
import { turbo } from "./colour/colour";
import { binned } from "./histogram";
import { boundsOf, countRows, Projection } from "./map/map";
import { drawStacked } from "./time/stacked";
import { toSvg } from "./pen/svgpen";
import { drawLine, drawStrip, extentOf, valueToY, yToValue } from "./time/timeline";

const size = { width: 200, height: 100 };

describe("the map", () => {
  test("projects there and back, same scale on both axes, y up", () => {
    const to = new Projection({ left: 0, right: 10, bottom: 0, top: 5 }, size);
    expect(to.x(10) - to.x(0)).toBeCloseTo(2 * (to.y(0) - to.y(5)));
    expect(to.y(5)).toBeLessThan(to.y(0));
    expect(to.backX(to.x(3))).toBeCloseTo(3);
    expect(to.backY(to.y(4))).toBeCloseTo(4);
  });

  test("bounds leave out unknown positions", () => {
    const bounds = boundsOf([], [0, NaN, 4], [1, 2, 3]);
    expect(bounds.left).toBeCloseTo(0, 0);
    expect(bounds.right).toBeCloseTo(4, 0);
    expect(boundsOf([], [], [])).toEqual({ left: -1, right: 1, bottom: -1, top: 1 });
  });

  test("counts every row once, or only those in runs", () => {
    const to = new Projection({ left: 0, right: 10, bottom: 0, top: 5 }, size);
    const way = { xs: Float32Array.of(1, 1, 9, NaN), ys: Float32Array.of(1, 1, 4, 2) };
    const sum = (counts: Uint32Array): number => counts.reduce((a, b) => a + b, 0);
    expect(sum(countRows(to, size, way, null).counts)).toBe(3);
    expect(countRows(to, size, way, null).most).toBe(2);
    expect(sum(countRows(to, size, way, [[1, 3]]).counts)).toBe(2);
  });
});

describe("timelines", () => {
  test("a value goes to a height and back", () => {
    const extent = extentOf([3, NaN, 7]);
    expect(extent).toEqual({ low: 3, high: 7 });
    expect(yToValue(valueToY(5, extent, 28), extent, 28)).toBeCloseTo(5);
    expect(extentOf([2, 2])).toEqual({ low: 1.5, high: 2.5 });
  });

  test("an unknown value breaks the line", () => {
    const svg = toSvg(size, "#fff", (pen) => drawLine(pen, size, [1, 2, NaN, 3, 4], { low: 0, high: 5 }, "#123456"));
    expect(svg.match(/M/g)).toHaveLength(2);
  });

  test("a spike survives when steps are denser than pixels", () => {
    const values = new Float32Array(10_000);
    values[5000] = 1;
    const svg = toSvg(size, "#fff", (pen) => drawLine(pen, size, values, { low: 0, high: 1 }, "#123456"));
    expect(svg).toMatch(/<rect[^>]* y="2"/);
  });

  test("one bar per stretch", () => {
    const svg = toSvg(size, "#fff", (pen) => drawStrip(pen, size, (i) => i % 5 < 2, 20, "#123456"));
    expect(svg.match(/<rect/g)).toHaveLength(1 + 4);
  });
});

test("stacked shares fill the height", () => {
  const looks = ["#111111", "#222222"].map((colour) => ({ colour, texture: 0 }) as const);
  const svg = toSvg(size, "#fff", (pen) => drawStacked(pen, size, [0.25, 0.75, 0.5, 0.5], looks, "#fff"));
  expect(svg.match(/<path/g)).toHaveLength(2);
  expect(svg).toContain("L200 100");
});

test("text in a drawing cannot become markup", () => {
  const svg = toSvg(size, "#fff", (pen) => pen.fillText('<script>alert("x")</script>', 0, 0));
  expect(svg).not.toContain("<script>");
});

test("a histogram counts what is selected apart", () => {
  const bins = binned([0, 1, 2, 3, NaN], 2, (row) => row > 1);
  expect([...bins.all]).toEqual([2, 2]);
  expect([...bins.chosen]).toEqual([0, 2]);
});

test("turbo runs from dark blue over green to dark red", () => {
  const [low, middle, high] = [turbo(0), turbo(0.5), turbo(1)];
  expect(low[0]).toBeLessThan(80);
  expect(middle[1]).toBeGreaterThan(200);
  expect(high[0]).toBeGreaterThan(high[2]);
});
