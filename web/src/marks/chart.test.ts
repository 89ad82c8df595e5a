import { describe, expect, test } from "vitest";
import { chartScales, type Chart } from "./chart";

const size = { width: 400, height: 200 };
const chart = (series: Chart["series"]): Chart => ({ x: "x", y: "y", series });

describe("a chart", () => {
  test("of numbers has a scale that holds every point, and zero where there are bars", () => {
    const line = chartScales(chart([{ name: "a", x: [0, 10], y: [5, 9], mark: "line" }]), size);
    expect(line.x(0)).toBeLessThan(line.x(10));
    expect(line.yScale.domain()[0]).toBeGreaterThan(0);
    const bars = chartScales(chart([{ name: "a", x: [0, 10], y: [5, 9], mark: "bar" }]), size);
    expect(bars.yScale.domain()[0]).toBe(0);
    expect(bars.x(0) - bars.step / 2).toBeGreaterThanOrEqual(bars.left);
  });

  test("of words gives every word a place, in the order they come", () => {
    const scales = chartScales(
      chart([
        { name: "a", x: ["see", "core"], y: [1, 2], mark: "bar" },
        { name: "b", x: ["core", "head"], y: [1, null], mark: "bar" },
      ]),
      size,
    );
    expect(scales.words).toEqual(["see", "core", "head"]);
    expect(scales.x("core") - scales.x("see")).toBeCloseTo(scales.step);
  });
});
