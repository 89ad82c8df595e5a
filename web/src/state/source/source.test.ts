import { describe, expect, test } from "vitest";
import type { Column, Prediction, RecordingInfo, StudyInfo } from "../../api/model";
import { Clock } from "../time/clock.svelte";
import { Groups, type Group } from "../recording/groups";
import type { Term } from "../selection/terms";
import { infoWith, movedRows, movedTerms, offersFor, secondKey, textOf, twinOf } from "./source";

const group = (index: number, start: number, stop: number, seed: number | null): Group => ({
  ...{ index, label: String(index), start, stop, seed },
  ...{ outcome: "", total: 0, scene: "" },
});
const long = new Groups([group(0, 0, 10, 7), group(1, 10, 30, 8)]);
const short = new Groups([group(0, 0, 5, 8), group(1, 5, 9, 9)]);

const info = {
  name: "walks",
  ordering: { group: "episode" },
  subject: { name: "old", heads: [], memory: [{ name: "h" }] },
  columns: [
    { name: "episode", kind: "index", derived: "" },
    { name: "health", kind: "fact", derived: "" },
    { name: "value", kind: "value", derived: "" },
    { name: "entropy", kind: "decision", derived: "" },
    { name: "advantage", kind: "fact", derived: "value[next] - value" },
  ],
  arrays: [
    { name: "observation", role: "observation" },
    { name: "probabilities", role: "probabilities" },
    { name: "memory", role: "memory" },
  ],
} as unknown as RecordingInfo;

const prediction = {
  subject: "new",
  heads: [
    { name: "pi", kind: "policy" },
    { name: "critic", kind: "value" },
  ],
  columns: [
    { name: "row", kind: "index" },
    { name: "entropy", kind: "decision" },
    { name: "value", kind: "value" },
  ],
  arrays: [{ name: "probabilities", role: "probabilities" }],
} as unknown as Prediction;

describe("a second source", () => {
  test("stands in the address, whatever it is called", () => {
    const source = { recording: "a;b 1", subject: "net; of 100 %" };
    expect(secondKey.read(textOf(source))).toEqual(source);
    expect(secondKey.read("walks")).toEqual({ recording: "walks", subject: "" });
    expect(secondKey.read("")).toBeUndefined();
    expect(secondKey.read("%E0%A4%A")).toBeUndefined();
  });

  test("another subject brings what it predicts, and nothing of the recorded one", () => {
    const made = infoWith(info, "new", prediction);
    expect(made.subject?.name).toBe("new");
    expect(made.columns.map((column: Column) => column.name)).toEqual(["episode", "health", "entropy", "value"]);
    expect(made.arrays.map((array) => array.name)).toEqual(["observation", "probabilities"]);
    const unknown = infoWith(info, "new", undefined);
    expect(unknown.columns.map((column: Column) => column.name)).toEqual(["episode", "health"]);
    expect(unknown.arrays.map((array) => array.name)).toEqual(["observation"]);
  });

  test("subjects with predictions, results or live are offered, and recordings of the same kind of rows", () => {
    const line = (name: string, ordered: boolean) => ({ name, rows: 5, subject: "x", capabilities: { ordered } });
    const study = {
      live_subjects: ["old", "alive"],
      recordings: [line("walks", true), line("second", true), line("pairs", false), { ...line("no", true), rows: 0 }],
    } as unknown as StudyInfo;
    const offers = offersFor(info, study, { predicted: ["new"], results: ["new", "old"] });
    expect(offers.map(({ title, note }) => [title, note])).toEqual([
      ["new", "predictions, results"],
      ["alive", "live"],
      ["second", "x"],
    ]);
  });
});

describe("the same moment in another recording", () => {
  test("is that of the same seed, else of the same label, never of another seed", () => {
    expect(twinOf(long.at(1)!, short)?.index).toBe(0);
    expect(twinOf(long.at(0)!, short)).toBeUndefined();
    const unknown = new Groups([group(0, 0, 4, null)]);
    expect(twinOf(long.at(0)!, unknown)?.index).toBe(0);
  });

  test("rows go to the same steps, as far as the episode has them", () => {
    expect(movedRows([[8, 14]], long, short)).toEqual([[0, 4]]);
    expect(movedRows([[12, 30]], long, short)).toEqual([[2, 5]]);
    expect(movedRows([[0, 5]], short, long)).toEqual([[10, 15]]);
    expect(movedRows([[20, 25]], long, short)).toEqual([]);
  });

  test("of a selection conditions stay as they are, and what is drawn into a layout means nothing there", () => {
    const term = (source: Term["source"]): Term => ({ operator: "union", negated: false, name: "", source });
    const health = term({ kind: "range", column: "health", low: 1, high: null });
    const rows = term({ kind: "rows", runs: [[11, 13]] });
    const lasso = term({ kind: "lasso", layout: "x", line: [] as never });
    const group = term({ kind: "group", terms: [rows] });
    expect(movedTerms([health, rows, lasso, group], long, short).map(({ source }) => source)).toEqual([
      health.source,
      { kind: "rows", runs: [[1, 3]] },
      { kind: "rows", runs: [] },
      { kind: "group", terms: [term({ kind: "rows", runs: [[1, 3]] })] },
    ]);
  });

  test("a clock with a leader shows the same step, or its last", () => {
    const leader = new Clock();
    leader.focus(100, 120, 103);
    const clock = new Clock(leader);
    clock.focus(10, 15);
    expect([clock.row, clock.step]).toEqual([13, 3]);
    leader.seek(118);
    expect(clock.row).toBe(14);
    clock.seek(11);
    expect(leader.row).toBe(101);
    const asked: number[] = [];
    const off = clock.waitFor((row) => asked.push(row) < 0);
    leader.speed = 2;
    expect(clock.speed).toBe(2);
    off();
    expect(asked).toEqual([]);
  });
});
