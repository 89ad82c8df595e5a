/** What the lens “factors” found, read so that it can be drawn. */
import { percent } from "../format";

export const signs = ["good", "bad"] as const;
export type Sign = (typeof signs)[number];

/** A row and a cell in which a factor responded strongly. */
export interface Example {
  readonly row: number;
  readonly y: number;
  readonly x: number;
  readonly amount: number;
}

/** How much of a factor lies on a kind of thing, and how much would by chance. */
export interface OnClass {
  readonly class: string;
  readonly share: number;
  readonly chance: number;
  readonly excess: number;
  readonly consistency: number;
  readonly groups: number;
}

export interface Factor {
  readonly share: number;
  readonly channels: readonly { readonly channel: number; readonly weight: number }[];
  readonly examples: Readonly<Record<Sign, readonly Example[]>>;
  readonly meaning: {
    readonly name: string;
    readonly means: string;
    readonly score: number;
    readonly classes: readonly OnClass[];
  } | null;
  /** What it meant in the recording that it was found in, where that is another one. */
  readonly known_as?: string;
  readonly known_to_mean?: string;
}

export interface Factors {
  readonly layer: string;
  readonly target: string;
  readonly of: "attributions" | "activations";
  readonly method: string;
  readonly grid: readonly [number, number];
  /** Pixels of the picture along a side that a cell sees. */
  readonly reach: number;
  /** Where its cells look, down and across, as shares of the picture. */
  readonly receptive_field: { readonly first: readonly [number, number]; readonly stride: readonly [number, number] };
  readonly explained: number;
  readonly completeness: { readonly median: number; readonly worst: number };
  readonly alone: boolean;
  readonly why: string;
  readonly masks: string;
  readonly factors: readonly Factor[];
}

/** The name that somebody gave, else the one that masks suggest, else its number. */
export function nameOf(factor: Factor | undefined, index: number, given: string | undefined): string {
  return given || suggestedOf(factor) || `factor ${index + 1}`;
}

/** What the world's masks say that it means: where it was found, else here. */
export const suggestedOf = (factor: Factor | undefined): string => factor?.known_as || factor?.meaning?.name || "";

/** The one class of things that it means most: what an edit is named after. */
export const meantBy = (factor: Factor | undefined): string => factor?.known_to_mean || factor?.meaning?.means || "";

/** Names that can be told apart: where several factors have the same one, each with its number. */
export function distinguished(names: readonly string[]): string[] {
  return names.map((name, index) =>
    names.some((other, i) => i !== index && other === name) ? `${name} ${index + 1}` : name,
  );
}

/** What the two pictures of news say, in the words of the target. */
export function wordsOf(found: Pick<Factors, "target" | "of">): { good: string; bad: string; signed: boolean } {
  if (found.of === "activations") return { good: "Responds", bad: "", signed: false };
  if (found.target === "value") return { good: "Raises value", bad: "Lowers value", signed: true };
  const [one, other] = found.target.split(" over ");
  if (other) return { good: `For ${one}`, bad: `For ${other}`, signed: true };
  const what = found.target === "action" ? "what it does" : found.target.replace(/^log /, "");
  return { good: `For ${what}`, bad: `Against ${what}`, signed: true };
}

/** The strength that fills a drop: nearly the strongest of some rows, so that one outlier does not hide all others. */
export function fullAt(scale: ArrayLike<number>, each = 2): number {
  const most: number[] = [];
  for (let i = 0; i < scale.length; i += each) if (scale[i]! > 0) most.push(scale[i]!);
  most.sort((a, b) => a - b);
  return most[Math.floor(0.98 * (most.length - 1))] ?? 1;
}

/** The strongest examples of either sign together, or of one. */
export function examplesOf(factor: Factor, which: Sign | "all", most: number): (Example & { sign: Sign })[] {
  const kept = signs.filter((sign) => which === "all" || which === sign);
  const all = kept.flatMap((sign) => factor.examples[sign].map((example) => ({ ...example, sign })));
  return all.sort((a, b) => b.amount - a.amount).slice(0, most);
}

/** Numbers that a person wrote into the address: `0,3,4`. */
export function indicesFrom(text: string | undefined, count: number): number[] {
  const found = (text ?? "").split(",").filter(Boolean).map(Number);
  return [...new Set(found)].filter((n) => Number.isInteger(n) && n >= 0 && n < count).sort((a, b) => a - b);
}

/** From this excess on a class may give its name. */
const clear = 0.2;

/** Why a factor that was compared with masks has no name. */
export function whyUnnamed(meaning: NonNullable<Factor["meaning"]>): string {
  const [best] = meaning.classes;
  if (!best || best.excess < clear) return "Clearly on no one kind of thing";
  return `${percent(best.excess)} more on ${best.class} than by chance, but in only ${percent(best.consistency)} of the episodes: a name needs 80 %`;
}
