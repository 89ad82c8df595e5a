import { describe, expect, it } from "vitest";
import type { ResultLine } from "../../api/results";
import { agreeing, badgeOf, csvOf, fixed, type Figures, type Trust } from "./trust";

const figures = (name: string, more: object = {}): Figures =>
  ({ name, verdict: "passes", layer: "", untested: "", randomisation: null, actions: null, ...more }) as Figures;
const found = {
  subject: "agent",
  target: "action",
  methods: [figures("guided", { verdict: "fails" }), figures("gradcam", { layer: "conv1" })],
  agreement: { guided: { guided: 1, gradcam: 0.2, laplacian: 0.7, empty: null } },
  recommendation: { sentences: [], methods: [{ method: "guided", use: "avoid", why: "It shows the picture." }] },
} as unknown as Trust;
const line = {} as ResultLine;
const claim = (method: string, parameters: object = {}, subject = "") => ({
  method,
  parameters: { ...parameters },
  subject,
});

describe("badges", () => {
  it("say what was found of the same method, target and layer on the same subject", () => {
    expect(badgeOf(found, line, claim("guided", { target: "action" }), "agent")).toEqual({
      verdict: "fails",
      why: "It shows the picture.",
    });
    expect(badgeOf(found, line, claim("gradcam", { target: "action", layer: "conv1" }), "agent").verdict).toBe(
      "passes",
    );
    expect(badgeOf(found, line, claim("gradcam", { layer: "" }, "agent"), "other").verdict).toBe("passes");
  });
  it("claim nothing of what was not tested, and say why", () => {
    const why = (one: ReturnType<typeof claim>, recorded = "agent"): string => {
      const badge = badgeOf(found, line, one, recorded);
      expect(badge.verdict).toBe("not tested");
      return badge.why;
    };
    expect(why(claim("guided", { target: "value" }))).toContain("“value”");
    expect(why(claim("gradcam", { target: "action", layer: "conv2" }))).toContain("“conv2”");
    expect(why(claim("guided", {}, "young"))).toContain("“young”");
    expect(why(claim("sarfa"))).toContain("“sarfa”");
    expect(badgeOf(null, undefined, claim("guided"), "agent").verdict).toBe("not tested");
  });
});

it("numbers have two digits and no minus before zero", () => {
  expect([fixed(0.556), fixed(-0.1), fixed(-0.001), fixed(NaN)]).toEqual(["0.56", "−0.10", "0.00", "–"]);
});

it("methods are listed by how much they agree", () => {
  expect(agreeing(found, "guided")).toEqual([
    { name: "laplacian", value: 0.7 },
    { name: "gradcam", value: 0.2 },
  ]);
  expect(agreeing(found, "unknown")).toEqual([]);
});

it("a table for export has a cell for each title", () => {
  const [head, ...lines] = csvOf(found);
  expect(lines).toHaveLength(2);
  expect(lines.every((cells) => cells.length === head!.length)).toBe(true);
  expect(lines[0]!.at(-1)).toBe("It shows the picture.");
});
