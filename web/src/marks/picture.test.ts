import { beforeAll, describe, expect, it, vi } from "vitest";
import { extraChannels, toImage } from "./picture";

beforeAll(() => {
  vi.stubGlobal(
    "ImageData",
    class {
      readonly data: Uint8ClampedArray;
      constructor(
        readonly width: number,
        readonly height: number,
      ) {
        this.data = new Uint8ClampedArray(4 * width * height);
      }
    },
  );
});

const pixels = { shape: [1, 2, 4], dtype: "uint8", values: [10, 20, 30, 40, 50, 60, 70, 80] };
const shown = (elements: readonly string[], channel?: number): number[] => [
  ...toImage(pixels, elements, channel)!.data,
];

describe("four channels", () => {
  const rgbd = ["red", "green", "blue", "depth"];
  it("are a stack of frames where nothing is said: the newest in grey", () => {
    expect(shown([])).toEqual([40, 40, 40, 255, 80, 80, 80, 255]);
  });
  it("are colour beside something else", () => {
    expect(shown(rgbd)).toEqual([10, 20, 30, 255, 50, 60, 70, 255]);
    expect(extraChannels(rgbd)).toEqual([3]);
    expect(shown(rgbd, 3)).toEqual([40, 40, 40, 255, 80, 80, 80, 255]);
  });
  it("are colour and how opaque it is", () => {
    const rgba = ["red", "green", "blue", "alpha"];
    expect(shown(rgba)).toEqual([10, 20, 30, 40, 50, 60, 70, 80]);
    expect(extraChannels(rgba)).toEqual([]);
  });
});

describe("six channels", () => {
  const two = { shape: [1, 1, 6], dtype: "uint8", values: [1, 2, 3, 4, 5, 6] };
  const frames = ["red", "green", "blue", "red", "green", "blue"];
  it("that are two frames in colour show the newest", () => {
    expect([...toImage(two, frames)!.data]).toEqual([4, 5, 6, 255]);
    expect(extraChannels(frames)).toEqual([]);
  });
});
