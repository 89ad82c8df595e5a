import { describe, expect, test } from "vitest";
import { ColumnStore } from "./columnstore";
import { ApiError } from "../errors";
import { FrameStore } from "./frames";
import type { ArraySpec } from "../model";
import type { Range, RecordingService } from "../service";

/** A recording whose values are the row numbers, with some rows damaged. */
class Fake {
  asked: Range[] = [];
  constructor(private readonly damaged: Range | null) {}

  private refuse(range: Range): void {
    this.asked.push(range);
    if (this.damaged && range.start < this.damaged.stop && range.stop > this.damaged.start)
      throw new ApiError("DamagedPart", "rows/3.parquet is damaged", 409);
  }

  columns(names: string[], range: Range): Promise<Map<string, unknown>> {
    return Promise.resolve().then(() => {
      this.refuse(range);
      const values = Float32Array.from({ length: range.stop - range.start }, (_, i) => range.start + i);
      return new Map(names.map((name) => [name, { type: "number", values }]));
    });
  }

  array(_name: string, range: Range): Promise<unknown> {
    return Promise.resolve().then(() => {
      this.refuse(range);
      const rows = range.stop - range.start;
      const values = Uint8Array.from({ length: rows * 12 }, (_, i) => range.start + Math.floor(i / 12));
      return { shape: [rows, 2, 2, 3], dtype: "uint8", values };
    });
  }
}

const service = (fake: Fake): RecordingService => fake as unknown as RecordingService;

describe("columns", () => {
  test("are read around damage, which stays unknown and is named", async () => {
    const store = new ColumnStore(service(new Fake({ start: 768, stop: 1024 })), 2000);
    const { columns, holes } = await store.slice(["x"], { start: 100, stop: 2000 });
    const data = columns.get("x")!;
    const values = data.type === "number" ? data.values : [];
    expect(values).toHaveLength(1900);
    expect(values[767 - 100]).toBe(767);
    expect(values[768 - 100]).toBeNaN();
    expect(values[1023 - 100]).toBeNaN();
    expect(values[1024 - 100]).toBe(1024);
    expect(holes.every((hole) => hole.start >= 768 && hole.stop <= 1024 && hole.message.includes("damaged"))).toBe(
      true,
    );
  });

  test("are read around damage in small blocks, which is one hole", async () => {
    const fake = new Fake({ start: 64, stop: 128 });
    const { columns, holes } = await new ColumnStore(service(fake), 200).slice(["x"], { start: 0, stop: 200 });
    const data = columns.get("x")!;
    const known = Array.from(data.type === "number" ? data.values : []).filter((value) => !Number.isNaN(value));
    expect(known).toEqual(Array.from({ length: 200 }, (_, i) => i).filter((i) => i < 64 || i >= 128));
    expect(holes).toMatchObject([{ start: 64, stop: 128 }]);
    expect(fake.asked.length).toBeLessThan(60);
  });

  test("are fetched once as a whole, and slices come from there", async () => {
    const fake = new Fake(null);
    const store = new ColumnStore(service(fake), 1000);
    await Promise.all([store.whole("x"), store.whole("x")]);
    const { columns } = await store.slice(["x"], { start: 10, stop: 12 });
    expect(columns.get("x")).toEqual({ type: "number", values: Float32Array.of(10, 11) });
    expect(fake.asked).toHaveLength(1);
  });

  test("another failure than damage is not hidden", async () => {
    const fake = { columns: () => Promise.reject(new ApiError("UnknownName", "no column", 404)) };
    const store = new ColumnStore(fake as unknown as RecordingService, 10);
    await expect(store.whole("y")).rejects.toThrow("no column");
  });
});

describe("frames", () => {
  const spec = { name: "observation", shape: [2, 2, 3], dtype: "uint8" } as unknown as ArraySpec;
  const settled = (store: FrameStore): Promise<void> => new Promise((resolve) => store.onArrival(() => resolve()));

  test("come in slices, with the next one ahead", async () => {
    const fake = new Fake(null);
    const store = new FrameStore(service(fake), spec, 100);
    expect(store.at(33)).toBeNull();
    await settled(store);
    expect(fake.asked).toEqual([
      { start: 32, stop: 64 },
      { start: 64, stop: 96 },
    ]);
    expect(store.at(33)!.values[0]).toBe(33);
    expect(store.ready(33)).toBe(true);
  });

  test("that cannot be read say why, and playback goes on over them", async () => {
    const store = new FrameStore(service(new Fake({ start: 0, stop: 32 })), spec, 100);
    store.at(5, 0);
    await settled(store);
    expect(store.at(5, 0)).toBeNull();
    expect(store.problem(5)).toContain("damaged");
    expect(store.ready(5)).toBe(true);
    expect(store.problem(40)).toBeNull();
  });
});
