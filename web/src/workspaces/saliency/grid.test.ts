import { describe, expect, it } from "vitest";
import type { Age, LensInfo, RecordingInfo } from "../../api/model";
import { recordedRunner } from "../../state/results/runner.svelte";
import { cellAt, channelOf, choicesFor, chosenOf, framesOf, methodsOf, titleOfAge } from "./grid";

const parameter = (name: string, type: string, fallback: unknown = "") => ({
  name,
  type,
  default: fallback,
  description: "",
  choices: [],
});
const lens = (name: string, parameters: unknown[], more: object = {}): LensInfo =>
  ({ name, question: "?", over: "row", yields: "heat", needs: ["image input"], parameters, ...more }) as LensInfo;
const lenses = [
  lens("gradient", [parameter("target", "target", "action")]),
  lens(
    "gradcam",
    [parameter("target", "target", "action"), parameter("layer", "layer"), parameter("gradients", "choice", "plain")],
    { variants: { g1gradcam: { gradients: "guided" } } },
  ),
  lens("blurring", [parameter("head", "head")]),
  lens("factors", [], { over: "rows", yields: "chart" }),
  lens("lacking", [parameter("target", "target", "action")]),
];
const recording = {
  arrays: [{ name: "observation", role: "observation", is_image: true, shape: [84, 84, 4], elements: [] }],
  columns: [],
  capabilities: { lacks: { lacking: "it needs something" }, targets: ["action", "value"] },
  subject: {
    convolutions: ["conv1", "conv2"],
    layers: ["conv1", "conv2", "dense"],
    heads: [
      { name: "q", kind: "q", size: 2, names: ["left", "right"] },
      { name: "value", kind: "value", size: 1, names: [] },
    ],
  },
} as unknown as RecordingInfo;
const runner = recordedRunner(recording);
const methods = methodsOf(lenses, recording, runner);
const nothing = { method: null, target: null, layer: null, frame: null, input: null, subject: null, snapshot: null };

describe("methods", () => {
  it("are lenses over one row that fit, and their variants are methods of their own", () => {
    expect(methods.map(({ key }) => key)).toEqual(["gradient", "gradcam", "g1gradcam", "blurring"]);
    expect(methods[2]!.parameters).toMatchObject({ gradients: "guided" });
  });
});

describe("frames", () => {
  it("are counted back from the newest, which is the last channel", () => {
    expect(framesOf(recording)).toEqual(["t", "t−1", "t−2", "t−3"]);
    expect(channelOf("t", recording)).toBe(3);
    expect(channelOf("t−3", recording)).toBe(0);
    expect(channelOf("", recording)).toBeUndefined();
    expect(framesOf(recording, 5)).toEqual(["t", "t−1", "t−2", "t−3", "t−4", "t−5"]);
  });
  it("are none in a picture with colours", () => {
    const colour = { ...recording, arrays: [{ ...recording.arrays[0]!, shape: [84, 84, 3] }] };
    expect(framesOf(colour)).toEqual([]);
  });
});

describe("cells", () => {
  const choices = choicesFor(methods, recording, runner, ["old", "new"]);
  const chosen = chosenOf(choices, nothing);

  it("open with something worth seeing", () => {
    expect(chosen.method).toEqual(["gradcam", "gradient", "g1gradcam"]);
    expect(chosen.target).toEqual(["action", "value"]);
    expect(chosen.subject).toEqual(["old", "new"]);
  });
  it("hold what they are asked, and what is not compared as it was chosen", () => {
    const cell = cellAt(methods, chosen, { method: "g1gradcam", target: "value" })!;
    expect(cell).toMatchObject({ lens: "gradcam", subject: "old", frame: "t", note: "" });
    expect(cell.parameters).toMatchObject({ target: "value", gradients: "guided", layer: "conv1" });
  });
  it("say where a method does not take what is compared", () => {
    expect(cellAt(methods, chosen, { method: "blurring", target: "value" })!.note).toBe("blurring takes no target");
  });
  it("open with snapshots of one training, as far apart as can be, and ask each under its name", () => {
    const age = (run: string, step: number): Age => ({ name: `${run} @ ${step}`, run, step, score: null, saved: true });
    const ages = [age("short", 1), ...Array.from({ length: 11 }, (_, i) => age("long", 10 * i))];
    const aged = chosenOf(choicesFor(methods, recording, runner, ["old"], ages), nothing, ages);
    expect(aged.snapshot).toEqual([0, 20, 40, 60, 80, 100].map((step) => `long @ ${step}`));
    expect(cellAt(methods, aged, { snapshot: "long @ 40" })!.subject).toBe("long @ 40");
    expect(cellAt(methods, aged, {})!.subject).toBe("old");
    expect(titleOfAge("long @ 40", ages)).toBe("40 steps, long");
    expect(titleOfAge("long @ 40", ages.slice(1))).toBe("40 steps");
  });
  it("leave out what is not there", () => {
    expect(chosenOf(choices, { ...nothing, method: ["nonsense", "blurring"] }).method).toEqual(["blurring"]);
  });
});
