/** Results of a kind in a list, each called by what was asked. */
import type { ResultLine } from "../../api/results";

/**
 * How a result is told apart from others in a list; a subject that is not the `recorded` one is named, and its layer is
 * said without the beginning that all layers of this subject have `among` them.
 */
export function titleOfResult(line: ResultLine, recorded?: string, among: readonly ResultLine[] = []): string {
  const asked = (line.arguments.parameters ?? {}) as Record<string, unknown>;
  const of = asked.of === "activations" ? "what it puts out" : String(asked.target || "value");
  const seed = asked.seed ? `, seed ${asked.seed}` : "";
  const how = asked.method === "sparse" ? ", sparse" : "";
  const before = asked.factors ? " saved" : "";
  const { subject } = line.arguments;
  const by = recorded && typeof subject === "string" && subject !== recorded ? `by ${subject}: ` : "";
  const own = among.filter((other) => other.arguments.subject === subject).map(layerOf);
  const layer = layerOf(line).slice(sharedBeginning(own).length) || "middle layer";
  return `${by}${of} · ${layer} · ${asked.count ?? "?"}${before}${how}${seed}`;
}

const layerOf = ({ arguments: { parameters } }: ResultLine): string =>
  String((parameters as Record<string, unknown> | undefined)?.layer ?? "");

/** The dotted beginning that all layers have; a number keeps the name before it: `cnn.0`, `cnn.2`. */
export function sharedBeginning(layers: readonly string[]): string {
  const named = layers.filter(Boolean).map((layer) => layer.split("."));
  const [first = []] = named;
  const same = (place: number): boolean =>
    named.every((parts) => place < parts.length - 1 && parts[place] === first[place]);
  let shared = 0;
  while (shared < first.length && same(shared)) shared++;
  while (shared && named.some((parts) => /^\d/.test(parts[shared]!))) shared--;
  return first
    .slice(0, shared)
    .map((part) => `${part}.`)
    .join("");
}
