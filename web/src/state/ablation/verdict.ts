/** What an ablation test says, in words. */
import { count, number } from "../format";
import {
  comparedOf,
  original,
  percentOf,
  shareOf,
  timesOf,
  type Arm,
  type ArmKind,
  type Compared,
  type AblationTest,
} from "./ablationtest";

/** Fewer levels than these are not enough to see a rare failure rise. */
const enough = 1000;

/** Words around what is to be seen first. */
export interface Said {
  readonly lead: string;
  readonly strong: string;
  readonly rest: string;
}

export interface VerdictLine {
  readonly kind: ArmKind | "others" | "good";
  readonly text: string;
  /** Whether it speaks for the edit. */
  readonly ok: boolean;
}

export interface Verdict {
  /** The failure that ablation raised most; none where it raised no one measurably. */
  readonly cause: string;
  readonly headline: Said;
  /** What stands beside it: other causes, the good ending, the control, what is invisible. */
  readonly lines: readonly VerdictLine[];
}

interface Raised {
  readonly cause: string;
  readonly compared: Compared;
}

/** Failures of an arm that are told apart from the original's, the largest rise in share first. */
function raised(ablationTest: AblationTest, arm: Arm, direction: 1 | -1 = 1): Raised[] {
  const from = original(ablationTest);
  const change = (cause: string): number => (shareOf(arm, cause)?.share ?? 0) - (shareOf(from, cause)?.share ?? 0);
  return ablationTest.causes
    .slice(1)
    .flatMap((cause) => {
      const compared = comparedOf(ablationTest, arm, cause);
      return compared?.apart && direction * change(cause) > 0 ? [{ cause, compared }] : [];
    })
    .sort((a, b) => Math.abs(change(b.cause)) - Math.abs(change(a.cause)));
}

/** What the ablation test says, in words. */
export function verdictOf(ablationTest: AblationTest): Verdict | null {
  const [from, ablated] = [original(ablationTest), ablationTest.arms.find((arm) => arm.kind === "ablated")];
  if (!from || !ablated?.episodes || !from.episodes) return null;
  const [first, ...others] = raised(ablationTest, ablated);
  const cause = first?.cause ?? "";
  const lines: VerdictLine[] = [];
  lines.push(othersLine(others, raised(ablationTest, ablated, -1), cause));
  for (const arm of ablationTest.arms) {
    if (arm.kind !== "control" && arm.kind !== "invisible") continue;
    if (arm.episodes)
      lines.push(
        arm.kind === "control" ? controlLine(ablationTest, arm, cause) : invisibleLine(ablationTest, arm, cause),
      );
  }
  const good = goodLine(ablationTest, ablated);
  return { cause, headline: headlineOf(ablationTest, ablated, first), lines: good ? [...lines, good] : lines };
}

function headlineOf(ablationTest: AblationTest, ablated: Arm, first: Raised | undefined): Said {
  const levels = `${count(ablated.episodes)} levels`;
  if (!first) {
    const more = ablated.episodes < enough ? `. ${capital(levels)} say little: run more of them.` : ".";
    return { lead: `Over ${levels} `, strong: "no failure became measurably more frequent", rest: more };
  }
  const [was, is] = [shareOf(original(ablationTest), first.cause), shareOf(ablated, first.cause)];
  const { times, low, high } = first.compared;
  const share = `${percentOf(is?.share ?? NaN)} of ${levels}`;
  // Nothing is so many times as often as never.
  if (times === null)
    return {
      lead: `It fails by ${first.cause} in `,
      strong: share,
      rest: `, the original in none (≥ ${timesWord(low ?? 1)}×).`,
    };
  const range = low !== null && high !== null ? ` (95 %: ${timesWord(low)} to ${timesWord(high)})` : "";
  return {
    lead: `It fails by ${first.cause} `,
    strong: `${timesWord(times)} times as often`,
    rest: `${range}: in ${share} instead of ${percentOf(was?.share ?? NaN)}.`,
  };
}

function othersLine(more: readonly Raised[], less: readonly Raised[], cause: string): VerdictLine {
  const compared = (each: Raised): string => `${each.cause} ${timesOf(each.compared.times) || "new"}`;
  const parts = [
    ...(more.length ? [`also more: ${more.map(compared).join(", ")}`] : []),
    ...(less.length ? [`less: ${less.map(compared).join(", ")}`] : []),
  ];
  const text = parts.length ? parts.join("; ") : `${cause ? "other causes" : "all causes"}: no clear difference`;
  return { kind: "others", text: capital(text), ok: !more.length };
}

function controlLine(ablationTest: AblationTest, arm: Arm, cause: string): VerdictLine {
  const worse = raised(ablationTest, arm);
  if (worse.length) {
    const compared = worse.map((each) => `${each.cause} ${timesOf(each.compared.times) || "new"}`).join(", ");
    return { kind: "control", text: `Random directions do harm as well: ${compared}`, ok: false };
  }
  if (!cause) return { kind: "control", text: "Random directions: nothing either", ok: true };
  const compared = timesOf(comparedOf(ablationTest, arm, cause)?.times ?? null);
  return {
    kind: "control",
    text: `Random directions: nothing like it${compared && ` (${cause} ${compared})`}`,
    ok: true,
  };
}

/** How far there is to go: the original, when that kind of thing is not drawn. */
function invisibleLine(ablationTest: AblationTest, arm: Arm, cause: string): VerdictLine {
  const own = ablationTest.causes.find((each) => each && arm.name.startsWith(each));
  const most = cause || own || raised(ablationTest, arm)[0]?.cause || (ablationTest.causes[1] ?? "");
  const [was, is, unseen] = [
    shareOf(original(ablationTest), most)?.share ?? NaN,
    shareOf(
      ablationTest.arms.find((other) => other.kind === "ablated"),
      most,
    )?.share ?? NaN,
    shareOf(arm, most)?.share ?? NaN,
  ];
  const way = (is - was) / (unseen - was);
  const part =
    cause && unseen > was && way > 0 ? `; the edit goes ${Math.min(100, Math.round(100 * way))} % of that way` : "";
  return { kind: "invisible", text: `${capital(arm.name)}: ${most} in ${percentOf(unseen)}${part}`, ok: true };
}

function goodLine(ablationTest: AblationTest, ablated: Arm): VerdictLine | null {
  const good = ablationTest.causes[0];
  if (good === undefined) return null;
  const [was, is] = [shareOf(original(ablationTest), good), shareOf(ablated, good)];
  if (!was || !is) return null;
  return {
    kind: "good",
    text: `${capital(good)}: ${percentOf(was.share)} before, ${percentOf(is.share)} now`,
    ok: true,
  };
}

const timesWord = (times: number): string =>
  times >= 9.95 ? count(Math.round(times)) : number(Number(times.toFixed(1)));

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
