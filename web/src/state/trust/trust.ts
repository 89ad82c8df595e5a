/** What was measured of methods of attribution on a subject, as the service tells it, and what a single map may claim. */
import type { ResultLine } from "../../api/results";

export type Verdict = "passes" | "fails" | "unclear" | "not tested";

export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
}

export interface Randomisation {
  /** The layer that was randomised last, the output's first. */
  readonly stages: readonly string[];
  readonly rank: readonly number[];
  readonly rank_low: readonly number[];
  readonly rank_high: readonly number[];
  readonly strength: readonly number[];
  readonly ssim: readonly number[];
  readonly remains: Interval;
  readonly places_remain: Interval;
  readonly draws: number;
  readonly empty: number;
}

export interface Curves {
  readonly insertion: readonly number[];
  readonly deletion: readonly number[];
  readonly insertion_by_chance: readonly number[];
  readonly deletion_by_chance: readonly number[];
  readonly insertion_area: Interval;
  readonly deletion_area: Interval;
  readonly insertion_area_by_chance: number;
  readonly deletion_area_by_chance: number;
  readonly ahead: Interval;
}

export interface Pointing {
  readonly hits: Interval;
  readonly mass: Interval;
  readonly area: number;
  readonly classes: readonly {
    readonly name: string;
    readonly mass: number;
    readonly area: number;
    readonly rows: number;
  }[];
}

/** Figures of one method; null where there is nothing to measure. */
export interface Figures {
  readonly name: string;
  readonly lens: string;
  readonly layer: string;
  readonly signed: boolean;
  readonly baseline: boolean;
  readonly untested: string;
  readonly rows: number;
  readonly empty: number;
  readonly verdict: Verdict;
  readonly draws_the_picture: boolean;
  readonly randomisation: Randomisation | null;
  readonly actions: { readonly differs: Interval; readonly actions: number; readonly empty: number } | null;
  readonly stability: {
    readonly seen_again: Interval;
    readonly by_chance: number;
    readonly steps: number;
    readonly reach_px: number;
    readonly word: string;
  } | null;
  readonly curves: Curves | null;
  readonly pointing: Pointing | null;
}

export interface Advice {
  readonly method: string;
  readonly use: "use" | "care" | "avoid" | "not tested";
  readonly why: string;
}

export interface Trust {
  readonly subject: string;
  readonly target: string;
  readonly threshold: number;
  readonly rows: readonly number[];
  readonly fractions: readonly number[];
  readonly replaced_by: string;
  readonly output: string;
  readonly memory: readonly string[];
  readonly methods: readonly Figures[];
  readonly agreement: Readonly<Record<string, Readonly<Record<string, number | null>>>>;
  readonly discriminative_over_guided: Interval | null;
  readonly recommendation: { readonly sentences: readonly string[]; readonly methods: readonly Advice[] };
}

/** A map of the grid: a method, its parameters and who is asked. */
export interface Claim {
  readonly method: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Empty: whoever recorded the rows. */
  readonly subject: string;
}

export interface Badge {
  readonly verdict: Verdict;
  readonly why: string;
}

/** What is known of a map: only the same method, target and layer on the same subject were tested. */
export function badgeOf(found: Trust | null, line: ResultLine | undefined, claim: Claim, recorded: string): Badge {
  const none = (why: string): Badge => ({ verdict: "not tested", why });
  if (!found || !line) return none("No method was examined on this subject yet.");
  const subject = claim.subject || recorded;
  if (subject && found.subject !== subject) return none(`“${found.subject}” was examined, and this is “${subject}”.`);
  const figures = found.methods.find(({ name }) => name === claim.method);
  if (!figures) return none(`“${claim.method}” was not among the methods that were examined.`);
  const { target, layer } = claim.parameters;
  if (typeof target === "string" && target !== found.target)
    return none(`Maps of “${found.target}” were examined, and this is of “${target}”.`);
  if (typeof layer === "string" && layer && figures.layer && layer !== figures.layer)
    return none(`Layer “${figures.layer}” was examined, and this is “${layer}”.`);
  const advice = found.recommendation.methods.find(({ method }) => method === claim.method);
  return { verdict: figures.verdict, why: advice?.why ?? figures.untested };
}

/** `0.55 (0.53 to 0.57)`. */
export const rangeOf = ({ mean, low, high }: Interval): string => `${fixed(mean)} (${fixed(low)} to ${fixed(high)})`;

/** Two digits behind the point, with a proper minus; no minus before zero. */
export function fixed(value: number): string {
  if (Number.isNaN(value)) return "–";
  const text = Math.abs(value).toFixed(2);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** Other methods by how much their maps agree with one, most first. */
export function agreeing(found: Trust, method: string): { name: string; value: number }[] {
  return Object.entries(found.agreement[method] ?? {})
    .flatMap(([name, value]) => (name === method || value === null ? [] : [{ name, value }]))
    .sort((a, b) => b.value - a.value);
}

/** Lines for a CSV file: one for each method. */
export function csvOf(found: Trust): (string | number)[][] {
  const ends = (interval: Interval | undefined): number[] =>
    interval ? [interval.mean, interval.low, interval.high] : [NaN, NaN, NaN];
  const head = [
    "method",
    "verdict",
    "remains",
    "remains low",
    "remains high",
    "places remain",
    "differs",
    "differs low",
  ];
  return [
    [
      ...[...head, "differs high", "seen again", "seen again by chance", "insertion area", "deletion area", "ahead"],
      ...["ahead low", "ahead high", "on things", "on things by chance", "why"],
    ],
    ...found.methods.map((each) => [
      ...[each.name, each.verdict, ...ends(each.randomisation?.remains)],
      ...[each.randomisation?.places_remain.mean ?? NaN, ...ends(each.actions?.differs)],
      ...[each.stability?.seen_again.mean ?? NaN, each.stability?.by_chance ?? NaN],
      ...[each.curves?.insertion_area.mean ?? NaN, each.curves?.deletion_area.mean ?? NaN],
      ...[...ends(each.curves?.ahead), each.pointing?.mass.mean ?? NaN, each.pointing?.area ?? NaN],
      each.untested || (found.recommendation.methods.find(({ method }) => method === each.name)?.why ?? ""),
    ]),
  ];
}
