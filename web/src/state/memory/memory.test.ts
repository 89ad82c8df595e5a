import { describe, expect, test } from "vitest";
import { intervalFromText } from "../time/interval";
import { elementsFromText, elementsToText, orderFromText, orderToText } from "./text";
import { moved, within, zoomed } from "../selection/span";
import { Undo } from "../undo/undo.svelte";

describe("elements as text", () => {
  test("runs are short and come back", () => {
    const elements = [3, 5, 6, 7, 8, 9, 20, 21];
    expect(elementsToText([...elements, 7])).toBe("3,5-9,20,21");
    expect(elementsFromText("3,5-9,20,21", 128)).toEqual(elements);
  });

  test("what is not there is left out, and nonsense chooses nothing", () => {
    expect(elementsFromText("2,126-900,x,-4,1.5", 128)).toEqual([2, 126, 127]);
    expect(elementsFromText("", 128)).toEqual([]);
    expect(elementsFromText("1-99999999999", 4)).toEqual([1, 2, 3]);
  });
});

describe("orders as text", () => {
  const rest = { recording: "r", array: "memory" };

  test("an order comes back with its rows and interval", () => {
    const ask = { by: "similar", ...rest, start: 10, stop: 90, from: 20, to: 30 } as const;
    expect(orderFromText(orderToText(ask), rest)).toEqual(ask);
    expect(orderFromText("correlation,0-5", { ...rest, column: "health" })).toEqual({
      by: "correlation",
      ...rest,
      start: 0,
      stop: 5,
      column: "health",
    });
  });

  test("one that nobody knows is none", () => {
    expect(orderFromText("by-magic,0-5", rest)).toBeNull();
    expect(orderFromText("change,9-5", rest)).toBeNull();
    expect(orderFromText("change", rest)).toBeNull();
  });

  test("intervals", () => {
    expect(intervalFromText("4-9")).toEqual([4, 9]);
    expect(intervalFromText("9-4")).toBeNull();
    expect(intervalFromText("")).toBeNull();
  });
});

describe("what is shown of something longer", () => {
  const all = { from: 10, to: 110 };

  test("stays within bounds and is never too short", () => {
    expect(within({ from: 0, to: 40 }, all, 4)).toEqual({ from: 10, to: 50 });
    expect(within({ from: 50, to: 51 }, all, 4)).toEqual({ from: 48.5, to: 52.5 });
    expect(within({ from: -100, to: 500 }, all, 4)).toEqual(all);
  });

  test("zooms around what is pointed at", () => {
    const near = zoomed(all, 0.5, 35, all, 4);
    expect(near).toEqual({ from: 22.5, to: 72.5 });
    expect((35 - near.from) / (near.to - near.from)).toBeCloseTo(0.25);
    expect(zoomed(near, 10, 35, all, 4)).toEqual(all);
  });

  test("moves to the end and no further", () => {
    expect(moved({ from: 20, to: 40 }, 500, all)).toEqual({ from: 90, to: 110 });
    expect(moved({ from: 20, to: 40 }, -500, all)).toEqual({ from: 10, to: 30 });
  });
});

test("what was done in several parts is undone in the order in which it was done", () => {
  const told: string[] = [];
  const part = (name: string) => ({ undo: () => told.push(`undo ${name}`), redo: () => told.push(`redo ${name}`) });
  const [a, b] = [part("a"), part("b")];
  const undo = new Undo();
  undo.did(a);
  undo.did(b);
  undo.undo();
  undo.undo();
  undo.undo();
  undo.redo();
  expect(told).toEqual(["undo b", "undo a", "redo a"]);
  expect([undo.canUndo, undo.canRedo]).toEqual([true, true]);
  undo.did(a);
  expect(undo.canRedo).toBe(false);
  undo.forget(a);
  expect(undo.canUndo).toBe(false);
});
