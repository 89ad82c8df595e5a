/** Flags as the lens tells them: which element tells which fact, how well and for how long. */
import { number } from "../../state/format";

export interface Flag {
  readonly element: number;
  readonly fact: string;
  /** The column that the fact was read from; may be none of the recording's. */
  readonly column: string;
  /** 0.5 to 1, on the episodes it was found in. */
  readonly auc: number;
  readonly held_out_auc: number;
  /** 1: larger values where the fact holds; -1: smaller. */
  readonly direction: number;
  readonly p: number;
  readonly q: number;
  readonly keeps_steps: number | null;
  readonly threshold: number;
  readonly histogram: Histogram | null;
}

export interface Histogram {
  readonly low: number;
  readonly high: number;
  readonly with: readonly number[];
  readonly without: readonly number[];
}

export interface Flags {
  readonly array: string;
  readonly episodes: { readonly found: number; readonly held_out: number };
  readonly flags: readonly Flag[];
}

export const sorts = ["well", "keeps", "element", "fact"] as const;
export type Sort = (typeof sorts)[number];

export interface Wish {
  /** Share of the list that may be there by chance. */
  readonly q: number;
  readonly words: string;
  /** Only the best element of each fact. */
  readonly best: boolean;
  readonly sort: Sort;
}

const known = (value: number | null): number => (value === null || Number.isNaN(value) ? -1 : value);
const ranks: Record<Sort, (a: Flag, b: Flag) => number> = {
  well: (a, b) => known(b.held_out_auc) - known(a.held_out_auc) || known(b.auc) - known(a.auc) || a.element - b.element,
  keeps: (a, b) => known(b.keeps_steps) - known(a.keeps_steps) || known(b.held_out_auc) - known(a.held_out_auc),
  element: (a, b) => a.element - b.element || known(b.held_out_auc) - known(a.held_out_auc),
  fact: (a, b) => a.fact.localeCompare(b.fact) || known(b.held_out_auc) - known(a.held_out_auc),
};

export function list(flags: readonly Flag[], wish: Wish): Flag[] {
  const words = wish.words.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = flags.filter(
    (flag) => flag.q <= wish.q && words.every((word) => flag.fact.toLowerCase().includes(word)),
  );
  const strong = fits.toSorted(ranks.well);
  const seen = new Set<string>();
  const kept = wish.best ? strong.filter((flag) => !seen.has(flag.fact) && seen.add(flag.fact)) : strong;
  return wish.sort === "well" ? kept : kept.toSorted(ranks[wish.sort]);
}

/** A flag in words for people who never heard of AUC. */
export function sentence(flag: Flag, label: string, heldOut: number): string {
  const side = flag.direction >= 0 ? "above" : "below";
  const where = Number.isFinite(flag.threshold)
    ? `is ${side} ${number(flag.threshold)}`
    : `is ${flag.direction >= 0 ? "high" : "low"}`;
  const parts = [`Where ${label} ${where}, “${flag.fact}” most likely holds.`];
  const episodes = heldOut ? `${heldOut} ${heldOut === 1 ? "episode" : "episodes"}` : "episodes";
  const share = Math.floor(100 * flag.held_out_auc);
  if (Number.isFinite(flag.held_out_auc))
    parts.push(
      `In ${episodes} not used to find it, it told a step with the fact from one without in ${share} of 100 pairs.`,
    );
  if (flag.keeps_steps !== null && flag.keeps_steps >= 1) {
    const steps = Math.round(flag.keeps_steps);
    parts.push(
      `It went on telling it for ${steps} ${steps === 1 ? "step" : "steps"} after the fact had left the view.`,
    );
  } else if (flag.keeps_steps !== null) parts.push("It stops telling it as soon as the fact has left the view.");
  return parts.join(" ");
}

/** How much better than a coin toss, 0 to 1. */
export const strength = (auc: number): number => (Number.isNaN(auc) ? 0 : Math.max(0, Math.min(1, 2 * (auc - 0.5))));
