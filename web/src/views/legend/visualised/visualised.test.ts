import { describe, expect, test } from "vitest";
import type { ResultLine } from "../../../api/results";
import {
  briefOf,
  caricatures,
  visualisesChannel,
  visualisesFactors,
  partOf,
  timesOf,
  type Visualisation,
  type VisualisedPicture,
} from "./visualised";

const line = (parameters: Record<string, unknown>): ResultLine =>
  ({ arguments: { parameters } }) as unknown as ResultLine;
const picture = (rest: Partial<VisualisedPicture>): VisualisedPicture =>
  ({ kind: "factor", times: 2, beyond: true, ...rest }) as VisualisedPicture;

describe("visualised pictures", () => {
  test("belong to one result of factors, or to one row", () => {
    expect(visualisesFactors("a")(line({ factors: "a", unit: -1, objective: "cell" }))).toBe(true);
    expect(visualisesFactors("a")(line({ factors: "a", unit: 3, objective: "cell" }))).toBe(false);
    expect(visualisesFactors("b")(line({ factors: "a", unit: -1, objective: "cell" }))).toBe(false);
    expect(visualisesFactors(undefined)(line({ factors: "" }))).toBe(false);
    expect(visualisesChannel(7, "c")(line({ factors: "", unit: 7, layer: "c", objective: "cell" }))).toBe(true);
    expect(visualisesChannel(7, "c")(line({ factors: "a", unit: 7, layer: "c", objective: "cell" }))).toBe(false);
    expect(visualisesChannel(7, "c")(line({ factors: "", unit: 7, layer: "d", objective: "cell" }))).toBe(false);
    expect(caricatures(3, "c")(line({ objective: "caricature", row: 3, layer: "c" }))).toBe(true);
    expect(caricatures(4, "c")(line({ objective: "caricature", row: 3, layer: "c" }))).toBe(false);
    expect(visualisesFactors("a")(line({ factors: "a", unit: -1, objective: "caricature" }))).toBe(false);
  });

  test("are looked at where the middle cell looks, unless the whole layer was meant", () => {
    const receptive_field = { first: [0.1, 0.2], stride: [0.05, 0.04] } as const;
    const found = { grid: [8, 14], reach: 9, receptive_field } as const;
    expect(partOf({ objective: "cell", ...found })).toEqual({ at: { y: 4, x: 7 }, receptive_field, reach: 9 });
    expect(partOf({ objective: "layer", ...found })).toBeNull();
  });

  test("say in few words how far they got", () => {
    const brief = (rest: Partial<VisualisedPicture>): string =>
      briefOf({ value: { rows: 9 } as Visualisation, picture: picture(rest) });
    expect(brief({})).toBe("2 × the strongest of 9 seen: none comes near");
    expect(brief({ times: 0.4, beyond: false })).toBe("40 % of the way to the strongest of 9 seen");
  });

  test("say where they leave what the agent meets", () => {
    expect(timesOf(picture({})).long).toContain("No observation comes near");
    expect(timesOf(picture({ times: 0.5, beyond: false })).long).toContain("of the way");
    expect(timesOf(picture({ times: 1.2, beyond: false })).long).not.toContain("No observation");
  });
});
