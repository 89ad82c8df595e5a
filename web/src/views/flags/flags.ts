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
  readonly retention_steps: number | null;
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
  readonly episodes: { readonly used: number; readonly held_out: number };
  /** As the end of a sentence: "while health is 60 points or more". */
  readonly when: ReadonlyMap<string, string>;
  /** Facts that stay true once they were: that something has happened so far. */
  readonly lasting: ReadonlySet<string>;
  readonly flags: readonly Flag[];
  /** What to keep in mind, in the lens's words. */
  readonly note: string;
}

/** What the lens told; what is not known is NaN. */
export function read(value: unknown): Flags {
  const told = value as Partial<Omit<Flags, "when" | "lasting">> & {
    facts?: { fact: string; when?: string; kind?: string }[];
  };
  const number = (v: number | null | undefined): number => v ?? NaN;
  return {
    array: told.array ?? "",
    episodes: told.episodes ?? { used: 0, held_out: 0 },
    when: new Map((told.facts ?? []).map((fact) => [fact.fact, fact.when ?? ""])),
    lasting: new Set((told.facts ?? []).filter((fact) => fact.kind === "so far").map((fact) => fact.fact)),
    note: told.note ?? "",
    flags: (told.flags ?? []).map((flag) => ({
      ...flag,
      held_out_auc: number(flag.held_out_auc),
      threshold: number(flag.threshold),
      retention_steps: flag.retention_steps ?? null,
      histogram: flag.histogram ?? null,
    })),
  };
}

export const sorts = ["well", "retention", "element", "fact"] as const;
export type Sort = (typeof sorts)[number];

export interface Wish {
  /** Share of the list that may be there by chance. */
  readonly q: number;
  /** How well it must tell in episodes not used to find it. */
  readonly least: number;
  readonly words: string;
  /** Only the best element of each fact. */
  readonly best: boolean;
  readonly sort: Sort;
}

const known = (value: number | null): number => (value === null || Number.isNaN(value) ? -1 : value);
const ranks: Record<Sort, (a: Flag, b: Flag) => number> = {
  well: (a, b) => known(b.held_out_auc) - known(a.held_out_auc) || known(b.auc) - known(a.auc) || a.element - b.element,
  retention: (a, b) =>
    known(b.retention_steps) - known(a.retention_steps) || known(b.held_out_auc) - known(a.held_out_auc),
  element: (a, b) => a.element - b.element || known(b.held_out_auc) - known(a.held_out_auc),
  fact: (a, b) => a.fact.localeCompare(b.fact) || known(b.held_out_auc) - known(a.held_out_auc),
};

export function list(flags: readonly Flag[], wish: Wish): Flag[] {
  const words = wish.words.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = flags.filter(
    (flag) =>
      flag.q <= wish.q &&
      flag.held_out_auc >= wish.least &&
      words.every((word) => flag.fact.toLowerCase().includes(word)),
  );
  const strong = fits.toSorted(ranks.well);
  const seen = new Set<string>();
  const kept = wish.best ? strong.filter((flag) => !seen.has(flag.fact) && seen.add(flag.fact)) : strong;
  return wish.sort === "well" ? kept : kept.toSorted(ranks[wish.sort]);
}

/** A flag in words for people who never heard of AUC. */
export function sentence(flag: Flag, label: string, flags: Flags): string {
  const { when, episodes, lasting } = flags;
  const [high, side] = flag.direction >= 0 ? ["high", "above"] : ["low", "below"];
  const border = Number.isFinite(flag.threshold) ? ` (${side} ${number(flag.threshold)})` : "";
  const parts = [`${label} is ${high}${border} ${when.get(flag.fact) || `where “${flag.fact}” holds`}.`];
  const count = episodes.held_out === 1 ? "1 episode" : `${episodes.held_out} episodes`;
  const share = Math.floor(100 * flag.held_out_auc);
  parts.push(
    `In ${count} not used to find it, it ranked a step with the fact beyond one without in ${share} of 100 pairs.`,
  );
  const ended = lasting.has(flag.fact) ? "it happened" : "it was over";
  if (flag.retention_steps !== null && flag.retention_steps >= 1) {
    const steps = flag.retention_steps === 1 ? "1 step" : `${flag.retention_steps} steps`;
    parts.push(`It went on encoding it for ${steps} after ${ended}.`);
  } else if (flag.retention_steps !== null) parts.push(`It stopped encoding it right after ${ended}.`);
  return parts.join(" ");
}

/** How much better than a coin toss, 0 to 1. */
export const strength = (auc: number): number => (Number.isNaN(auc) ? 0 : Math.max(0, Math.min(1, 2 * (auc - 0.5))));
