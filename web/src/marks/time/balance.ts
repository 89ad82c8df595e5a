/** Good above and bad below a line, stacked by factor along time. */
import { drawTexture, type Look } from "../colour/names";
import type { Pen, Size } from "../pen/pen";

export interface Balance {
  /** [step, factor, sign]: good, then bad, neither below zero. */
  readonly values: ArrayLike<number>;
  readonly factors: number;
  /** How each factor looks. */
  readonly looks: readonly Look[];
  /** The colour behind them. */
  readonly ground: string;
  readonly shown: (factor: number) => boolean;
}

export interface Reach {
  /** The highest stack above the line, and the deepest below it. */
  readonly good: number;
  readonly bad: number;
}

export const stepsOf = ({ values, factors }: Balance): number => Math.floor(values.length / (2 * Math.max(1, factors)));

/** Of so many steps one may stick out of the picture: it would press all others flat. */
const outlying = 0.99;

/** How far stacks go, or single lines, in nearly all steps. */
export function reachOf(balance: Balance, form: "stacked" | "lines"): Reach {
  const steps = stepsOf(balance);
  const [good, bad] = [new Float64Array(steps), new Float64Array(steps)];
  for (let step = 0; step < steps; step++) {
    for (let factor = 0; factor < balance.factors; factor++) {
      const [plus, minus] = balance.shown(factor) ? pair(balance, step, factor) : [0, 0];
      if (form === "stacked") [good[step], bad[step]] = [good[step]! + plus, bad[step]! + minus];
      else [good[step], bad[step]] = [Math.max(good[step]!, plus - minus), Math.max(bad[step]!, minus - plus)];
    }
  }
  return { good: usual(good) || 1e-9, bad: usual(bad) };
}

/** The largest, unless a few are far larger than nearly all others. */
function usual(values: Float64Array): number {
  const sorted = values.toSorted();
  const most = sorted.at(-1) ?? 0;
  const nearly = sorted[Math.ceil(outlying * (sorted.length - 1))] ?? 0;
  return most > 1.5 * nearly ? 1.15 * nearly || most : most;
}

function pair({ values, factors }: Balance, step: number, factor: number): [number, number] {
  const at = 2 * (step * factors + factor);
  return [values[at]! || 0, values[at + 1]! || 0];
}

/** Where an amount lies from the top; the line of nothing divides the height as good and bad do. */
export const balanceY = (amount: number, { good, bad }: Reach, height: number): number =>
  ((good - amount) / (good + bad)) * height;

/** Means over the steps of each pixel, [column, factor, sign]. */
function columnsOf(balance: Balance, columns: number): Float32Array {
  const steps = stepsOf(balance);
  const each = 2 * balance.factors;
  const out = new Float32Array(columns * each);
  for (let column = 0; column < columns; column++) {
    const from = Math.floor((column * steps) / columns);
    const to = Math.max(from + 1, Math.floor(((column + 1) * steps) / columns));
    for (let k = 0; k < each; k++) {
      let sum = 0;
      for (let step = from; step < to; step++) sum += balance.values[step * each + k]! || 0;
      out[column * each + k] = sum / (to - from);
    }
  }
  return out;
}

export function drawBalance(pen: Pen, size: Size, balance: Balance, reach: Reach): void {
  const steps = stepsOf(balance);
  if (!steps) return;
  const columns = Math.min(steps, Math.max(1, Math.floor(size.width)));
  const means = columnsOf(balance, columns);
  const x = (column: number): number => (column / columns) * size.width;
  const y = (amount: number): number => balanceY(amount, reach, size.height);
  for (const sign of [0, 1] as const) {
    const base = new Float32Array(columns);
    const side = sign ? -1 : 1;
    for (let factor = 0; factor < balance.factors; factor++) {
      if (!balance.shown(factor)) continue;
      const { colour, texture } = balance.looks[factor]!;
      const before = base.slice();
      pen.fillStyle = colour;
      pen.beginPath();
      for (let c = 0; c < columns; c++) {
        pen.lineTo(x(c), y(side * base[c]!));
        pen.lineTo(x(c + 1), y(side * base[c]!));
      }
      for (let c = columns - 1; c >= 0; c--) {
        base[c]! += means[2 * (c * balance.factors + factor) + sign]!;
        pen.lineTo(x(c + 1), y(side * base[c]!));
        pen.lineTo(x(c), y(side * base[c]!));
      }
      pen.fill();
      drawTexture(pen, size.width, { texture, ground: balance.ground }, (at) => {
        const c = Math.floor((at / size.width) * columns);
        const ends = [y(side * before[c]!), y(side * base[c]!)] as const;
        return side > 0 ? [ends[1], ends[0]] : ends;
      });
    }
  }
}

/** Good less bad of each factor, or of all that are shown; NaN in steps of which nothing is known. */
export function netOf(balance: Balance, factor: number | null): Float32Array {
  return Float32Array.from({ length: stepsOf(balance) }, (_, step) => {
    if (Number.isNaN(balance.values[2 * step * balance.factors])) return NaN;
    let sum = 0;
    for (let f = 0; f < balance.factors; f++) {
      if (factor === null ? !balance.shown(f) : f !== factor) continue;
      const [plus, minus] = pair(balance, step, f);
      sum += plus - minus;
    }
    return sum;
  });
}

/** The factor whose band lies at an amount above or below the line. */
export function bandAt(balance: Balance, step: number, amount: number): number | null {
  let left = Math.abs(amount);
  for (let factor = 0; factor < balance.factors; factor++) {
    if (!balance.shown(factor)) continue;
    const size = pair(balance, step, factor)[amount < 0 ? 1 : 0];
    if (left <= size) return factor;
    left -= size;
  }
  return null;
}
