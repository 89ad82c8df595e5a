import { describe, expect, test } from "vitest";
import type { ResultLine } from "../../api/results";
import { sharedBeginning, titleOfResult } from "./titles";

describe("what results are called", () => {
  test("results are told apart by what was asked", () => {
    const line = (parameters: Record<string, unknown>) => ({ arguments: { parameters } }) as unknown as ResultLine;
    expect(titleOfResult(line({ layer: "", target: "value", count: 8 }))).toBe("value · middle layer · 8");
    expect(titleOfResult(line({ layer: "conv2", of: "activations", count: 4, method: "sparse", seed: 2 }))).toBe(
      "what it puts out · conv2 · 4, sparse, seed 2",
    );
    const known = { ...line({ layer: "conv2", count: 4, factors: "abcd" }), recording: "levels" };
    expect(titleOfResult(known)).toBe("value · conv2 · 4 saved");
    const other = { ...known, arguments: { ...known.arguments, subject: "ablated" } };
    expect(titleOfResult(other, "ablated")).toBe("value · conv2 · 4 saved");
    expect(titleOfResult(other, "original")).toBe("by ablated: value · conv2 · 4 saved");
  });

  test("layers are listed without the beginning that tells none apart", () => {
    const of = (layer: string, subject: string) =>
      ({ arguments: { subject, parameters: { layer, count: 8 } } }) as unknown as ResultLine;
    const lines = [...["net.cnn.0", "", "net.cnn.2"].map((layer) => of(layer, "own")), of("stem", "other")];
    expect(lines.map((line) => titleOfResult(line, "own", lines))).toEqual([
      "value · cnn.0 · 8",
      "value · middle layer · 8",
      "value · cnn.2 · 8",
      "by other: value · stem · 8",
    ]);
    expect(titleOfResult(lines[0]!, "own")).toBe("value · net.cnn.0 · 8");
    expect(sharedBeginning(["net.block.a", "net.block"])).toBe("net.");
    expect(sharedBeginning(["0.conv", "0.1"])).toBe("");
    expect(sharedBeginning(["conv2", "net.conv2"])).toBe("");
    expect(sharedBeginning(["", ""])).toBe("");
  });
});
