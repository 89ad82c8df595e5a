import { expect, test } from "vitest";
import { groundBounds, imageBox, type Ground } from "./ground";
import { Projection } from "./map";

const ground: Ground = {
  walls: [],
  polygons: [{ name: "kitchen", points: [[0, 0], [9, 0], [9, 1]] }], // prettier-ignore
  image: { width_px: 60, height_px: 40, origin: [-1.5, 2], scale: 0.1 },
};

test("the picture lies where its lower left corner and its scale say", () => {
  const bounds = groundBounds(ground, null)!;
  expect(bounds).toEqual({ left: -1.5, right: 9, bottom: 0, top: 6 });
  const to = new Projection(bounds, { width: 300, height: 200 });
  const [left, top, width, height] = imageBox(ground, to)!;
  expect(to.backX(left)).toBeCloseTo(-1.5);
  expect(to.backY(top + height)).toBeCloseTo(2);
  expect(to.backX(left + width)).toBeCloseTo(4.5);
  expect(to.backY(top)).toBeCloseTo(6);
});

test("rows outside of the picture have room, too", () => {
  const bounds = groundBounds(ground, { left: -7, right: 0, bottom: 1, top: 12 })!;
  expect([bounds.left, bounds.top]).toEqual([-7, 12]);
});
