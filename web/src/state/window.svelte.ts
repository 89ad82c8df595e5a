/** The stretch of time that every time axis shows: one zoom for memory, facts, decisions and the scrubber. */
import type { Clock } from "./clock.svelte";

export type Scope = "episode" | "recording";

/** Fewer rows than this are never shown: a cell would be as wide as a hand. */
const fewest = 4;

export class TimeWindow {
  scope = $state<Scope>("episode");
  /** Rows of the whole recording. */
  rows = $state(0);
  private chosen = $state.raw<{ from: number; to: number } | null>(null);

  constructor(private readonly clock: Clock) {}

  /** First row of all that can be shown, and the one after the last. */
  start = $derived.by(() => (this.scope === "recording" ? 0 : this.clock.start));
  stop = $derived.by(() => (this.scope === "recording" ? this.rows : this.clock.stop));
  /** What is visible, in rows; between two rows while somebody drags. */
  from = $derived(Math.max(this.start, Math.min(this.chosen?.from ?? this.start, this.stop - this.least)));
  to = $derived(Math.min(this.stop, Math.max(this.chosen?.to ?? this.stop, this.from + this.least)));
  length = $derived(Math.max(1e-9, this.to - this.from));
  zoomed = $derived(this.from > this.start || this.to < this.stop);

  private get least(): number {
    return Math.min(fewest, Math.max(1, this.stop - this.start));
  }

  /** Where a row begins along an axis. */
  x(row: number, width: number): number {
    return ((row - this.from) / this.length) * width;
  }

  /** The row at a place along an axis, within what is shown. */
  rowAt(x: number, width: number): number {
    const row = Math.floor(this.from + (x / Math.max(1, width)) * this.length);
    return Math.max(Math.floor(this.from), Math.min(Math.ceil(this.to) - 1, row));
  }

  show(from: number, to: number): void {
    const least = this.least;
    const length = Math.max(least, Math.min(this.stop - this.start, to - from));
    const first = Math.max(this.start, Math.min(this.stop - length, (from + to - length) / 2));
    const whole = length >= this.stop - this.start;
    this.chosen = whole ? null : { from: first, to: first + length };
  }

  reset(): void {
    this.chosen = null;
  }

  /** Larger than 1 shows more; the row stays where it is on screen. */
  zoom(factor: number, around: number): void {
    const least = this.least;
    const length = Math.max(least, Math.min(this.stop - this.start, this.length * factor));
    const share = (around - this.from) / this.length;
    this.show(around - share * length, around + (1 - share) * length);
  }

  pan(rows: number): void {
    const length = this.length;
    const from = Math.max(this.start, Math.min(this.stop - length, this.from + rows));
    this.show(from, from + length);
  }

  /** Turn the page when the cursor leaves what is shown. */
  follow(row: number): void {
    if (!this.zoomed || (row >= this.from && row < this.to) || row < this.start || row >= this.stop) return;
    this.pan((row < this.from ? row + 1 - this.to : row - this.from) + (row < this.from ? 0.1 : -0.1) * this.length);
  }

  setScope(scope: Scope): void {
    this.scope = scope;
    this.chosen = null;
  }

  /** Another episode is shown as a whole; of the whole recording we see what we saw. */
  moved(): void {
    if (this.scope === "episode") this.chosen = null;
  }

  get settings(): Record<string, string> {
    const out: Record<string, string> = {};
    if (this.scope === "recording") out.scope = "recording";
    if (this.zoomed) out.window = `${Math.round(this.from - this.start)}-${Math.round(this.to - this.start)}`;
    return out;
  }

  restore(settings: Readonly<Record<string, string>>): void {
    this.setScope(settings.scope === "recording" ? "recording" : "episode");
    const [from, to] = (settings.window ?? "").split("-").map(Number);
    if (from !== undefined && to !== undefined && to > from) this.show(this.start + from, this.start + to);
  }
}

export const windowKeys = ["scope", "window"];
