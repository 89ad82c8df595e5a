import { expect, test } from "vitest";
import { toSvg } from "./svgpen";

const drawn = (draw: Parameters<typeof toSvg>[2]): string => toSvg({ width: 20, height: 20 }, "#fff", draw);

test("a small circle does not vanish", () => {
  const svg = drawn((pen) => {
    pen.beginPath();
    pen.arc(10, 10, 4, 0, 2 * Math.PI);
    pen.fill();
  });
  expect(svg).toContain("M14 10A4 4 0 0 1 6 10A4 4 0 0 1 14 10Z");
});

test("a part of a circle ends where it should", () => {
  const svg = drawn((pen) => {
    pen.beginPath();
    pen.arc(10, 10, 4, 0, 1.5 * Math.PI);
    pen.stroke();
  });
  expect(svg).toContain("M14 10A4 4 0 1 1 10 6");
});
