/** Sliders of filters as a binding has them. */
import type { PictureFilter } from "../../api/filters";

/** What sliders stand at, by filter; what is left out changes nothing. */
export type Settings = Readonly<Record<string, readonly number[]>>;

export const neutralOf = ({ numbers }: PictureFilter): number[] => numbers.map(({ neutral }) => neutral);

/** Filters that change something, in their order, as they are written. */
export function stepsOf(known: readonly PictureFilter[], settings: Settings): string {
  const changed = known.filter((each) => {
    const numbers = settings[each.name] ?? [];
    return numbers.some((value, i) => value !== each.numbers[i]!.neutral);
  });
  return changed.map(({ name }) => [name, ...settings[name]!].join(" ")).join(" | ");
}

/** What sliders stand at for filters as they are written; null where one is not known. */
export function settingsOf(known: readonly PictureFilter[], steps: string): Settings | null {
  const found: Record<string, number[]> = {};
  for (const step of steps.split("|").map((part) => part.trim())) {
    const chosen = known.find(({ name }) => step.startsWith(`${name} `));
    if (!chosen || chosen.name in found) return null;
    found[chosen.name] = step.slice(chosen.name.length).trim().split(/\s+/).map(Number);
  }
  return found;
}

/** The same pictures through filters: each part of the text gets what suits it from the service. */
export const fedThrough = (inputs: Readonly<Record<string, string>>, domain: string, steps: string) =>
  Object.fromEntries(
    Object.entries(inputs).map(([input, text]) => [input, steps && domain ? `${domain} | ${steps}` : text]),
  );
