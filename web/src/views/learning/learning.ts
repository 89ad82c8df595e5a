/** What the result of a learning signal holds, as the view reads it. */
import type { LearningLine } from "../../marks/learning";

export interface Signal extends LearningLine {
  readonly low?: readonly number[];
  readonly high?: readonly number[];
  readonly source?: string;
}

export interface Health {
  readonly step: number;
  readonly dead: number;
  readonly gradient: number;
  readonly warnings: Readonly<Record<string, string>>;
}

export interface Learning {
  readonly run: string;
  readonly lens: string;
  readonly rows: number;
  readonly share: number;
  readonly signals: readonly Signal[];
  readonly score: Signal | null;
  readonly ratios: readonly { readonly signal: string; readonly ratio: number }[];
  readonly health: readonly Health[];
  readonly problems: readonly { readonly step: number; readonly problem: string }[];
  readonly words: readonly string[];
}

/** All lines of the plot; the score is the last. */
export const linesOf = ({ signals, score }: Learning): Signal[] => [...signals, ...(score ? [score] : [])];

/** What every line says at the step of it that is nearest. */
export function readingAt(lines: readonly Signal[], step: number): { name: string; step: number; value: number }[] {
  return lines.flatMap(({ name, steps, values }) => {
    const place = steps.reduce(
      (best, each, i) => (Math.abs(each - step) < Math.abs(steps[best]! - step) ? i : best),
      0,
    );
    return values[place] === undefined ? [] : [{ name, step: steps[place]!, value: values[place] }];
  });
}

/** The figures as a table: a line per step of a line of the plot. */
export function tableOf(found: Learning): (string | number)[][] {
  return [
    ["signal", "step", "value", "low", "high"],
    ...linesOf(found).flatMap(({ name, steps, values, low, high }) =>
      steps.map((step, i) => [name, step, values[i] ?? NaN, low?.[i] ?? NaN, high?.[i] ?? NaN]),
    ),
  ];
}
