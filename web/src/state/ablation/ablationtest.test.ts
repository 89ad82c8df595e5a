import { describe, expect, test } from "vitest";
import {
  csvOf,
  met,
  niceAbove,
  percentOf,
  placeOn,
  scalesOf,
  tickOf,
  timesOf,
  timesOrLeast,
  titleOfTest,
  type Arm,
  type ArmKind,
  type AblationTest,
} from "./ablationtest";
import { verdictOf } from "./verdict";

const causes = ["coin", "saw", "enemy", "lava"];

function arm(name: string, kind: ArmKind, failures: readonly [number, number, number], of = 10_000): Arm {
  const counts = [of - failures.reduce((a, b) => a + b, 0), ...failures];
  return {
    name,
    kind,
    episodes: of,
    return: { mean: 9, low: 8.9, high: 9.1 },
    steps: 120,
    causes: causes.map((cause, place) => {
      const share = counts[place]! / of;
      const half = 1.96 * Math.sqrt((share * (1 - share)) / of) + 1 / of;
      const [low, high] = [Math.max(0, share - half), Math.min(1, share + half)];
      return { cause, count: counts[place]!, share, low, high, seeds: [] };
    }),
  };
}

function ablationTest(...arms: Arm[]): AblationTest {
  const [first, ...others] = arms;
  const compared = others.flatMap((other) =>
    other.causes.map((share, place) => {
      const base = first!.causes[place]!;
      const times = base.share ? share.share / base.share : null;
      const apart = share.low > base.high || share.high < base.low;
      return {
        arm: other.name,
        cause: share.cause,
        times,
        low: (times ?? 20) * 0.8,
        high: times && times * 1.2,
        apart,
      };
    }),
  );
  return { levels: 10_000, done: 10_000, seed: 7, causes, arms, compared };
}

const paper = ablationTest(
  arm("original", "original", [37, 16, 0]),
  arm("without saw", "ablated", [1276, 16, 0]),
  arm("random directions", "control", [40, 18, 0]),
  arm("saw invisible", "invisible", [3220, 5, 0]),
);
const said = (told: AblationTest, kind: string) => verdictOf(told)?.lines.find((line) => line.kind === kind);

describe("what an ablation test says", () => {
  test("the failure that rose is told first, how often and how sure", () => {
    const { cause, headline } = verdictOf(paper)!;
    expect(cause).toBe("saw");
    expect(headline.lead + headline.strong).toBe("It fails by saw 34 times as often");
    expect(headline.rest).toContain("12.8 % of 10,000 levels instead of 0.37 %");
    expect(headline.rest).toContain("95 %: 28 to 41");
  });

  test("others that stay, a control that does nothing, and how far it goes", () => {
    expect(said(paper, "others")).toMatchObject({
      ok: true,
      text: expect.stringContaining("no clear difference"),
    });
    expect(said(paper, "control")).toMatchObject({
      ok: true,
      text: expect.stringContaining("nothing like it (saw 1.1×)"),
    });
    expect(said(paper, "invisible")?.text).toBe("Saw invisible: saw in 32.2 %; the edit goes 39 % of that way");
    expect(said(paper, "good")?.text).toBe("Coin: 99.5 % before, 87.1 % now");
  });

  test("doubts are said as doubts", () => {
    const broken = ablationTest(
      arm("original", "original", [37, 16, 0]),
      arm("ablated", "ablated", [1276, 400, 0]),
      arm("random directions", "control", [900, 16, 0]),
    );
    expect(said(broken, "others")).toMatchObject({ ok: false, text: "Also more: enemy 25×" });
    expect(said(broken, "control")).toMatchObject({ ok: false, text: "Random directions do harm as well: saw 24×" });
  });

  test("an edit that changes nothing is said to change nothing", () => {
    const nothing = ablationTest(arm("original", "original", [37, 16, 0]), arm("ablated", "ablated", [39, 15, 0]));
    expect(verdictOf(nothing)).toMatchObject({
      cause: "",
      headline: { strong: expect.stringContaining("no failure") },
    });
    expect(said(nothing, "others")?.text).toContain("All causes");
    expect(verdictOf(nothing)?.headline.rest).toBe(".");
  });

  test("few levels are said to be few, and claim nothing for a control", () => {
    const few = ablationTest(
      arm("original", "original", [1, 0, 0], 20),
      arm("ablated", "ablated", [2, 0, 0], 20),
      arm("random directions", "control", [1, 0, 0], 20),
      arm("enemy invisible", "invisible", [1, 1, 0], 20),
    );
    expect(verdictOf(few)?.headline.rest).toContain("20 levels say little");
    expect(said(few, "control")?.text).toBe("Random directions: nothing either");
    expect(said(few, "invisible")?.text).toBe("Enemy invisible: enemy in 5.0 %");
    const none = [0, 0, 0] as const;
    const calm = ablationTest(
      arm("original", "original", none),
      arm("ablated", "ablated", none),
      arm("coin invisible", "invisible", none),
    );
    expect(said(calm, "invisible")?.text).toBe("Coin invisible: coin in 100 %");
  });

  test("what never happened before has no ratio, only a least one", () => {
    const fresh = ablationTest(arm("original", "original", [0, 16, 0]), arm("ablated", "ablated", [500, 16, 0]));
    expect(verdictOf(fresh)?.headline).toEqual({
      lead: "It fails by saw in ",
      strong: "5.0 % of 10,000 levels",
      rest: ", the original in none (≥ 16×).",
    });
  });

  test("nothing is said before anybody has played", () => {
    expect(verdictOf(ablationTest(arm("original", "original", [0, 0, 0])))).toBeNull();
  });
});

describe("how it is drawn", () => {
  test("causes that nobody met are named apart, the good ending never is", () => {
    expect(met(paper)).toEqual({ columns: ["coin", "saw", "enemy"], never: ["lava"] });
    const lost = ablationTest(arm("original", "original", [10_000, 0, 0]), arm("ablated", "ablated", [10_000, 0, 0]));
    expect(met(lost).columns).toEqual(["coin", "saw"]);
  });

  test("failures share a scale that begins at none; the good ending has its own", () => {
    const { good, failures } = scalesOf(paper, false);
    expect(failures).toEqual({ low: 0, high: 0.4, log: false });
    expect(good.low).toBeCloseTo(0.6);
    expect(placeOn(failures, 0.2)).toBeCloseTo(0.5);
    expect(placeOn(good, 0)).toBe(0);
  });

  test("on a log scale equal ratios are equal lengths, and none stands at the edge", () => {
    const { failures } = scalesOf(paper, true);
    const length = (a: number, b: number): number => placeOn(failures, b) - placeOn(failures, a);
    expect(length(0.001, 0.01)).toBeCloseTo(length(0.01, 0.1));
    expect(placeOn(failures, 0)).toBe(0);
    expect(failures.low).toBeGreaterThan(0);
  });

  test.each([
    [0.332, 0.4],
    [0.13, 0.15],
    [0.96, 1],
    [0.0021, 0.003],
  ])("%f ends at %f", (value, end) => expect(niceAbove(value)).toBeCloseTo(end));

  test("numbers have the digits that mean something", () => {
    expect([0, 0.0037, 0.1276, 0.99999].map(percentOf)).toEqual(["0 %", "0.37 %", "12.8 %", "100 %"]);
    expect([34.4, 1.23, null].map(timesOf)).toEqual(["34×", "1.2×", ""]);
    expect([0.6, 0.015, 1].map(tickOf)).toEqual(["60 %", "1.5 %", "100 %"]);
  });

  test("an ablation test is told apart by what was asked", () => {
    const arms = paper.arms.map(({ name, kind }) => ({ name, kind }));
    expect(titleOfTest({ levels: 10_000, arms })).toBe("10,000 levels, 1 control, saw invisible");
  });

  test("the table has a line for each arm and cause", () => {
    const lines = csvOf(paper);
    expect(lines).toHaveLength(1 + 4 * causes.length);
    expect(lines.find((line) => line[1] === "ablated" && line[3] === "saw")?.slice(4, 6)).toEqual([1276, 0.1276]);
  });
});

test("where the original never ended so the least is said, if it is more than once", () => {
  const line = { arm: "ablated", cause: "saw", high: null, apart: true };
  expect(timesOrLeast({ ...line, times: null, low: 17.2 })).toBe("≥ 17×");
  expect(timesOrLeast({ ...line, times: null, low: 0.98 })).toBe("");
  expect(timesOrLeast({ ...line, times: 3.04, low: 2 })).toBe("3.0×");
});
