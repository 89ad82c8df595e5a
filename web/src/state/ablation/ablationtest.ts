/** An ablation test: how an edited subject ends its levels beside the original, a control and what is invisible. */
import { count } from "../format";

export type ArmKind = "original" | "ablated" | "control" | "invisible";

export interface Share {
  readonly cause: string;
  readonly count: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
  /** The first levels that ended so. */
  readonly seeds: readonly number[];
}

export interface Arm {
  readonly name: string;
  readonly kind: ArmKind;
  readonly episodes: number;
  readonly return: { readonly mean: number; readonly low: number | null; readonly high: number | null };
  readonly steps: number;
  readonly causes: readonly Share[];
}

/** A share of an arm over that of the original. */
export interface Compared {
  readonly arm: string;
  readonly cause: string;
  /** None where the original never ended so. */
  readonly times: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** Whether the two intervals do not overlap. */
  readonly apart: boolean;
}

export interface AblationTest {
  /** Levels for each arm, and how many all of them have played. */
  readonly levels: number;
  readonly done: number;
  readonly seed: number;
  /** The good ending first. */
  readonly causes: readonly string[];
  readonly arms: readonly Arm[];
  readonly compared: readonly Compared[];
}

export const original = (ablationTest: AblationTest): Arm | undefined =>
  ablationTest.arms.find((arm) => arm.kind === "original");

export const shareOf = (arm: Arm | undefined, cause: string): Share | undefined =>
  arm?.causes.find((share) => share.cause === cause);

export const comparedOf = (ablationTest: AblationTest, arm: Arm, cause: string): Compared | undefined =>
  ablationTest.compared.find((each) => each.arm === arm.name && each.cause === cause);

/** Causes that some arm met, in their order; those that none met are named apart. */
export function met(ablationTest: AblationTest): { columns: string[]; never: string[] } {
  const [columns, never]: [string[], string[]] = [[], []];
  for (const [place, cause] of ablationTest.causes.entries()) {
    const some = ablationTest.arms.some((arm) => (shareOf(arm, cause)?.count ?? 0) > 0);
    (some || place === 0 ? columns : never).push(cause);
  }
  return { columns, never };
}

export interface Scale {
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
}

/** One scale for all failures, so that lengths can be compared; the good ending has its own. */
export function scalesOf(ablationTest: AblationTest, log: boolean): { good: Scale; failures: Scale } {
  const good = ablationTest.causes[0];
  const failures = ablationTest.arms.flatMap((arm) => arm.causes.filter((share) => share.cause !== good));
  const goods = ablationTest.arms.flatMap((arm) => arm.causes.filter((share) => share.cause === good));
  const most = Math.max(1e-3, ...failures.map((share) => share.high));
  const least = Math.min(1, ...goods.map((share) => share.low));
  const step = least > 0.9 ? 0.02 : least > 0.5 ? 0.1 : 0.25;
  const positive = failures.filter((share) => share.count > 0).map((share) => share.low);
  const floor = 10 ** Math.floor(Math.log10(Math.max(1e-6, Math.min(most / 10, ...positive.filter((low) => low > 0)))));
  return {
    good: { low: Math.max(0, Math.floor(least / step) * step), high: 1, log: false },
    failures: log ? { low: floor, high: niceAbove(most), log } : { low: 0, high: niceAbove(most), log },
  };
}

/** The next round number, but never more than everything. */
export function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value - 1e-12) ?? 10;
  return Math.min(1, Number((factor * power).toPrecision(3)));
}

/** Where a share lies on a scale, from 0 to 1; what lies before its begin stands at the edge. */
export function placeOn(scale: Scale, value: number): number {
  const { low, high, log } = scale;
  const place = log
    ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
    : (value - low) / Math.max(1e-12, high - low);
  return Math.max(0, Math.min(1, place));
}

/** `12.8 %`, `0.37 %`: two or three digits that mean something. */
export function percentOf(share: number): string {
  const value = 100 * share;
  if (!Number.isFinite(value)) return "–";
  const digits = value === 0 || value >= 99.95 ? 0 : value >= 1 ? 1 : 2;
  return `${value.toFixed(digits)} %`;
}

/** Ends of an axis need no more digits than they have. */
export const tickOf = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;

/** `34×`, `1.2×`. */
export const timesOf = (times: number | null): string =>
  times === null ? "" : `${times >= 9.95 ? Math.round(times) : times.toFixed(1)}×`;

/** Where the original never ended so there is no ratio, but the least that it can be. */
export function timesOrLeast({ times, low }: Compared): string {
  return times === null && low !== null && low > 1 ? `≥ ${timesOf(low)}` : timesOf(times);
}

/** How an ablation test is told apart from others of the same subject. */
export function titleOfTest(asked: Readonly<Record<string, unknown>>): string {
  const arms = (Array.isArray(asked.arms) ? asked.arms : []) as { name?: string; kind?: ArmKind }[];
  const controls = arms.filter((arm) => arm.kind === "control").length;
  return [
    `${typeof asked.levels === "number" ? count(asked.levels) : "?"} levels`,
    `${controls} ${controls === 1 ? "control" : "controls"}`,
    ...arms.flatMap((arm) => (arm.kind === "invisible" && arm.name ? [arm.name] : [])),
  ].join(", ");
}

/** Lines for a CSV file: one for each arm and cause. */
export function csvOf(ablationTest: AblationTest): (string | number)[][] {
  const lines = ablationTest.arms.flatMap((arm) =>
    arm.causes.map((share) => {
      const compared = comparedOf(ablationTest, arm, share.cause);
      return [
        ...[arm.name, arm.kind, arm.episodes, share.cause, share.count, share.share, share.low, share.high],
        ...[compared?.times ?? "", compared?.low ?? "", compared?.high ?? "", compared ? String(compared.apart) : ""],
      ];
    }),
  );
  const head = ["arm", "kind", "levels", "cause", "count", "share", "low", "high"];
  return [[...head, "times the original", "times low", "times high", "apart"], ...lines];
}
