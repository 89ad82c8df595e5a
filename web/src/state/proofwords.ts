/** What a proof says, in words. */
import { count, number } from "./format";
import {
  comparedOf,
  original,
  percentOf,
  shareOf,
  timesOf,
  type Arm,
  type ArmKind,
  type Compared,
  type Proof,
} from "./proof";

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
  /** The failure that blinding raised most; none where it raised no one measurably. */
  readonly cause: string;
  readonly headline: Said;
  /** What stands beside it: other causes, the good ending, the control, what is invisible. */
  readonly lines: readonly VerdictLine[];
}

interface Raised {
  readonly cause: string;
  readonly told: Compared;
}

/** Failures of an arm that are told apart from the original's, the largest rise in share first. */
function raised(proof: Proof, arm: Arm, direction: 1 | -1 = 1): Raised[] {
  const from = original(proof);
  const change = (cause: string): number => (shareOf(arm, cause)?.share ?? 0) - (shareOf(from, cause)?.share ?? 0);
  return proof.causes
    .slice(1)
    .flatMap((cause) => {
      const told = comparedOf(proof, arm, cause);
      return told?.apart && direction * change(cause) > 0 ? [{ cause, told }] : [];
    })
    .sort((a, b) => Math.abs(change(b.cause)) - Math.abs(change(a.cause)));
}

/** What the proof says, in words. */
export function verdictOf(proof: Proof): Verdict | null {
  const [from, blind] = [original(proof), proof.arms.find((arm) => arm.kind === "blind")];
  if (!from || !blind?.episodes || !from.episodes) return null;
  const [first, ...others] = raised(proof, blind);
  const cause = first?.cause ?? "";
  const lines: VerdictLine[] = [];
  lines.push(othersLine(others, raised(proof, blind, -1), cause));
  for (const arm of proof.arms) {
    if (arm.kind !== "control" && arm.kind !== "invisible") continue;
    if (arm.episodes)
      lines.push(arm.kind === "control" ? controlLine(proof, arm, cause) : invisibleLine(proof, arm, cause));
  }
  const good = goodLine(proof, blind);
  return { cause, headline: headlineOf(proof, blind, first), lines: good ? [...lines, good] : lines };
}

function headlineOf(proof: Proof, blind: Arm, first: Raised | undefined): Said {
  const levels = `${count(blind.episodes)} levels`;
  if (!first) {
    const more = blind.episodes < enough ? `. ${capital(levels)} prove little: play more of them.` : ".";
    return { lead: `Over ${levels} `, strong: "no failure became measurably more frequent", rest: more };
  }
  const [was, is] = [shareOf(original(proof), first.cause), shareOf(blind, first.cause)];
  const { times, low, high } = first.told;
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
  const told = (each: Raised): string => `${each.cause} ${timesOf(each.told.times) || "new"}`;
  const parts = [
    ...(more.length ? [`also more: ${more.map(told).join(", ")}`] : []),
    ...(less.length ? [`less: ${less.map(told).join(", ")}`] : []),
  ];
  const text = parts.length ? parts.join("; ") : `${cause ? "other causes" : "all causes"}: not told apart`;
  return { kind: "others", text: capital(text), ok: !more.length };
}

function controlLine(proof: Proof, arm: Arm, cause: string): VerdictLine {
  const worse = raised(proof, arm);
  if (worse.length) {
    const told = worse.map((each) => `${each.cause} ${timesOf(each.told.times) || "new"}`).join(", ");
    return { kind: "control", text: `Random directions do harm as well: ${told}`, ok: false };
  }
  if (!cause) return { kind: "control", text: "Random directions: nothing either", ok: true };
  const told = timesOf(comparedOf(proof, arm, cause)?.times ?? null);
  return {
    kind: "control",
    text: `Random directions: nothing like it${told && ` (${cause} ${told})`}`,
    ok: true,
  };
}

/** How far there is to go: the original, when that kind of thing is not drawn. */
function invisibleLine(proof: Proof, arm: Arm, cause: string): VerdictLine {
  const own = proof.causes.find((each) => each && arm.name.startsWith(each));
  const most = cause || own || raised(proof, arm)[0]?.cause || (proof.causes[1] ?? "");
  const [was, is, unseen] = [
    shareOf(original(proof), most)?.share ?? NaN,
    shareOf(
      proof.arms.find((other) => other.kind === "blind"),
      most,
    )?.share ?? NaN,
    shareOf(arm, most)?.share ?? NaN,
  ];
  const way = (is - was) / (unseen - was);
  const part =
    cause && unseen > was && way > 0 ? `; the edit goes ${Math.min(100, Math.round(100 * way))} % of that way` : "";
  return { kind: "invisible", text: `${capital(arm.name)}: ${most} in ${percentOf(unseen)}${part}`, ok: true };
}

function goodLine(proof: Proof, blind: Arm): VerdictLine | null {
  const good = proof.causes[0];
  if (good === undefined) return null;
  const [was, is] = [shareOf(original(proof), good), shareOf(blind, good)];
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
