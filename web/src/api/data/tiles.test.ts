import { describe, expect, test, vi } from "vitest";
import type { RecordingService } from "../service";
import { binsPerTile, levelFor, TileStore, topLevel, type Grid } from "./tiles";

const elements = 2;
const grid: Grid = { start: 100, stop: 100 + 2000, whole: false };

/** A service whose tiles hold their own level and number. */
function fake(answer = (level: number, index: number): number => level * 100 + index) {
  const asked: string[] = [];
  const service = {
    tile: async (_: string, wanted: { grid: Grid; level: number; index: number }) => {
      const { level, index } = wanted;
      asked.push(`${level}:${index}`);
      const rows = wanted.grid.stop - wanted.grid.start;
      const bins = Math.min(binsPerTile, Math.ceil(rows / 2 ** level) - index * binsPerTile);
      return { bins, values: new Float32Array(bins * elements).fill(answer(level, index)) };
    },
  };
  return { asked, store: new TileStore(service as unknown as RecordingService, "memory", elements) };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe("levels", () => {
  test("one tile holds everything at the top", () => {
    expect(topLevel(grid)).toBe(3);
    expect(topLevel({ start: 0, stop: 256, whole: true })).toBe(0);
    expect(topLevel({ start: 0, stop: 1_000_000, whole: true })).toBe(12);
  });

  test("bins are no longer than a pixel", () => {
    expect([0.1, 1, 1.9, 2, 5, 1e9].map((rows) => levelFor(grid, rows))).toEqual([0, 0, 0, 1, 2, 3]);
  });
});

describe("tiles", () => {
  test("what is coarse stands in until what is fine is here, each row once", async () => {
    const { store } = fake();
    expect(store.cover(grid, 100, 2100, 3)).toEqual([]);
    await settled();
    expect(store.cover(grid, 100, 2100, 3).map(({ tile }) => tile.values[0])).toEqual([300]);
    const meanwhile = store.cover(grid, 400, 900, 0);
    expect(meanwhile.map(({ tile }) => tile.level)).toEqual([3, 3, 3]);
    expect(meanwhile.map(({ from, to }) => [from, to])).toEqual([
      [356, 612],
      [612, 868],
      [868, 1124],
    ]);
    await settled();
    expect(store.cover(grid, 400, 900, 0).map(({ tile }) => tile.values[0])).toEqual([1, 2, 3]);
    expect(store.complete(grid, 400, 900, 0)).toBe(true);
  });

  test("neighbours are fetched ahead, nothing twice", async () => {
    const { store, asked } = fake();
    store.cover(grid, 612, 868, 0);
    await settled();
    store.cover(grid, 612, 868, 0);
    await settled();
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked).toContain("0:1");
    expect(asked).toContain("0:3");
    expect(asked).not.toContain("0:7");
  });

  test("one that cannot be read says why and does not hide the others", async () => {
    const { store } = fake((level, index) => {
      if (level === 0 && index === 2) throw new Error("rows 512 to 768 are damaged");
      return 1;
    });
    store.cover(grid, 400, 900, 0);
    await settled();
    store.cover(grid, 400, 900, 0);
    await settled();
    expect(store.problem).toContain("damaged");
    expect(store.cover(grid, 400, 900, 0).filter(({ tile }) => tile.level === 0)).toHaveLength(2);
  });

  test("while the service builds, it is asked again later", async () => {
    vi.stubGlobal("window", globalThis);
    let ready = false;
    const service = {
      tile: () => Promise.resolve(ready ? { bins: 1, values: new Uint16Array(elements) } : { building: 0.25 }),
    };
    const store = new TileStore(service as unknown as RecordingService, "memory", elements);
    const heard = vi.fn(() => store.cover(grid, 100, 2100, 3));
    store.onArrival(heard);
    store.cover(grid, 100, 2100, 3);
    await settled();
    expect(store.building).toBe(0.25);
    ready = true;
    await vi.waitFor(() => expect(store.complete(grid, 100, 2100, 3)).toBe(true), { timeout: 3000 });
    store.close();
    expect(store.held).toBe(0);
  });
});
