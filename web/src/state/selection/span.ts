/** A stretch of something longer that is shown: clamped, zoomed and moved. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The nearest stretch that lies within bounds and is not shorter than `least`. */
export function within(span: Span, bounds: Span, least: number): Span {
  const all = Math.max(0, bounds.to - bounds.from);
  const length = Math.max(Math.min(least, all), Math.min(all, span.to - span.from));
  const middle = (span.from + span.to) / 2;
  const from = Math.max(bounds.from, Math.min(bounds.to - length, middle - length / 2));
  return { from, to: from + length };
}

/** Longer by a factor; `around` stays where it is on screen, as far as the bounds allow. */
export function zoomed(span: Span, factor: number, around: number, bounds: Span, least: number): Span {
  const all = Math.max(0, bounds.to - bounds.from);
  const length = Math.max(Math.min(least, all), Math.min(all, (span.to - span.from) * factor));
  const share = (around - span.from) / Math.max(1e-9, span.to - span.from);
  return within({ from: around - share * length, to: around + (1 - share) * length }, bounds, least);
}

export function moved(span: Span, by: number, bounds: Span): Span {
  const length = span.to - span.from;
  const from = Math.max(bounds.from, Math.min(bounds.to - length, span.from + by));
  return { from, to: from + length };
}
