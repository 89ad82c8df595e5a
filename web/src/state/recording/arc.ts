/** Rows that look in some directions, as a term of a selection. */
import type { Source, Term } from "../selection/terms";

export interface Directions {
  readonly column: string;
  /** Degrees in one unit of the column. */
  readonly deg: number;
  /** The smallest and the largest value there is: angles may lie in any turn. */
  readonly low: number;
  readonly high: number;
}

/** From one direction anticlockwise to another, in degrees; the end may be smaller than the begin. */
export function arcSource({ column, deg, low, high }: Directions, from: number, to: number): Source {
  const width = (((to - from) % 360) + 360) % 360 || 360;
  const first = Math.floor((low * deg - to) / 360) - 1;
  const last = Math.ceil((high * deg - from) / 360) + 1;
  const terms: Term[] = [];
  for (let turn = first; turn <= last; turn++) {
    const begin = from + 360 * turn;
    const [a, b] = [begin / deg, (begin + width) / deg];
    if (b < low || a > high) continue;
    const source: Source = { kind: "range", column, low: +a.toPrecision(7), high: +b.toPrecision(7) };
    terms.push({ operator: "union", negated: false, name: `${Math.round(begin)}°`, source });
  }
  if (terms.length === 1) return terms[0]!.source;
  return { kind: "group", terms };
}
