import { describe, expect, test } from "vitest";
import type { LensInfo, RecordingInfo } from "../../api/model";
import { choicesOf, defaultsOf, fittingOf, missing, read, saliencyWays, type Parameter } from "./lenses";

const parameter = (rest: Partial<Parameter>): Parameter => ({
  name: "p",
  type: "int",
  default: 3,
  description: "",
  choices: [],
  of_type: "",
  low: null,
  high: null,
  ...rest,
});
const recording = {
  columns: [{ name: "health" }, { name: "x" }],
  arrays: [
    { name: "observation", role: "observation" },
    { name: "memory.a", role: "memory" },
    { name: "memory.b", role: "memory" },
  ],
  subject: null,
  capabilities: { targets: [] },
} as unknown as RecordingInfo;
const lens = (rest: Partial<LensInfo>): LensInfo => ({ name: "l", question: "?", ...rest }) as LensInfo;

describe("controls from a lens's own words", () => {
  test("arrays and columns are those of the recording", () => {
    expect(choicesOf(parameter({ type: "array", default: "memory.a" }), recording, ["memory"])).toEqual([
      "memory.a",
      "memory.b",
    ]);
    expect(choicesOf(parameter({ type: "column", default: "" }), recording, [])).toEqual(["", "health", "x"]);
    expect(choicesOf(parameter({ type: "choice", choices: ["a", "b"] }), recording, [])).toEqual(["a", "b"]);
    expect(choicesOf(parameter({}), recording, [])).toBeNull();
  });

  test("layers are convolutions where a lens needs one, and all where that is not known", () => {
    const layer = parameter({ type: "layer", default: "" });
    const of = (subject: unknown): RecordingInfo => ({ ...recording, subject }) as unknown as RecordingInfo;
    const known = of({ layers: ["conv1", "relu", "dense"], convolutions: ["conv1"] });
    expect(choicesOf(layer, known, ["convolution"])).toEqual(["", "conv1"]);
    expect(choicesOf(layer, known, [])).toEqual(["", "conv1", "relu", "dense"]);
    const older = of({ layers: ["conv1", "dense"], convolutions: [] });
    expect(choicesOf(layer, older, ["convolution"])).toEqual(["", "conv1", "dense"]);
  });

  test("targets are those that the service lists", () => {
    const target = parameter({ type: "target", default: "value" });
    const targets = ["x of pose", "y of pose"];
    const located = { ...recording, capabilities: { targets } } as unknown as RecordingInfo;
    expect(choicesOf(target, located, [])).toEqual(targets);
    expect(choicesOf(target, recording, [])).toBeNull();
    const live = { layers: ["conv"], convolutions: [], heads: ["answer"], targets: ["yes of answer"] };
    expect(choicesOf(target, recording, [], live)).toEqual(["yes of answer"]);
    expect(choicesOf(parameter({ type: "layer", default: "" }), recording, [], live)).toEqual(["", "conv"]);
    const asks = lens({ over: "row", yields: "heat", parameters: [{ ...target, name: "target" }] });
    expect(defaultsOf(asks, recording, "", live)).toEqual({ target: "yes of answer" });
    expect(saliencyWays([asks], recording, live)[0]!.ways.map((way) => way.parameters)).toEqual([
      { target: "yes of answer" },
    ]);
  });

  test("saliency is offered by what it is asked for", () => {
    const target = parameter({ name: "target", type: "target", default: "action" });
    const found = lens({ name: "integrated", over: "row", yields: "heat", parameters: [target] });
    const targets = ["value", "action", "log left", "log right", "left over right"];
    const of = { ...recording, capabilities: { targets } } as unknown as RecordingInfo;
    const [one, ...more] = saliencyWays([found, lens({ name: "flags", over: "rows" })], of);
    expect(more).toEqual([]);
    expect(one!.ways.map((way) => [way.key, way.parameters.target])).toEqual([
      ["integrated", "action"],
      ["integrated:value", "value"],
      ["integrated:log left", "log left"],
      ["integrated:log right", "log right"],
    ]);
  });

  test("the array that is looked at is the one that is asked about", () => {
    const parameters = [parameter({ name: "array", type: "array", default: "memory" }), parameter({ name: "n" })];
    const asked = defaultsOf(lens({ needs: ["memory"], parameters }), recording, "memory.b");
    expect(asked).toEqual({ array: "memory.b", n: 3 });
    expect(defaultsOf(lens({ needs: ["memory"], parameters }), recording, "gone").array).toBe("memory.a");
  });

  test("numbers stay within their bounds, nonsense becomes the default", () => {
    const bounded = parameter({ low: 1, high: 10 });
    expect(read(bounded, "99")).toBe(10);
    expect(read(bounded, "2,6")).toBe(3);
    expect(read(bounded, "many")).toBe(3);
    expect(read(bounded, "")).toBe(3);
    expect(read(parameter({ type: "float" }), "0,25")).toBe(0.25);
  });

  test("what is missing is told", () => {
    const told = { ...recording, capabilities: { lacks: { umap: "needs umap-learn" } } } as unknown as RecordingInfo;
    expect(missing(undefined, told)).not.toBe("");
    expect(missing(lens({ name: "umap" }), told)).toBe("needs umap-learn");
    expect(missing(lens({ name: "pca" }), told)).toBe("");
  });

  test("what was asked before is asked again only where it still can be", () => {
    const parameters = [parameter({ name: "objective", type: "choice", choices: ["cell", "layer"] }), parameter({})];
    const lens = { name: "l", parameters } as unknown as LensInfo;
    expect(fittingOf(lens, { objective: "caricature", p: 9 })).toEqual({ p: 9 });
    expect(fittingOf(lens, { objective: "layer" })).toEqual({ objective: "layer" });
    const going = {
      ...lens,
      parameters: [
        ...(lens.parameters ?? []),
        { ...lens.parameters![0]!, name: "factors", type: "result" as const, choices: [] },
      ],
    };
    expect(fittingOf(going, { factors: "abcd", p: 9 })).toEqual({ p: 9 });
    expect(fittingOf(lens, undefined)).toEqual({});
  });
});
