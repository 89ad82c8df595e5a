/** The stretch of time that every time axis shows: one zoom for memory, facts, decisions and the scrubber. */
import type { Clock } from "./clock.svelte";
import { moved, within, zoomed, type Span } from "./span";

export type Scope = "episode" | "recording";

/** Fewer rows than this are never shown: a cell would be as wide as a hand. */
const fewest = 4;

export class TimeWindow {
  scope = $state<Scope>("episode");
  /** Rows of the whole recording. */
  rows = $state(0);
  private chosen = $state.raw<Span | null>(null);

  /** A link may show other rows than the cursor's; they stay until the cursor moves. */
  private parked = -1;

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
    this.set(within({ from, to }, this.bounds, this.least));
  }

  reset(): void {
    this.chosen = null;
  }

  /** Larger than 1 shows more; the row stays where it is on screen. */
  zoom(factor: number, around: number): void {
    this.set(zoomed(this, factor, around, this.bounds, this.least));
  }

  pan(rows: number): void {
    if (this.zoomed) this.set(moved(this, rows, this.bounds));
  }

  private get bounds(): Span {
    return { from: this.start, to: this.stop };
  }

  private set(span: Span): void {
    const whole = span.from <= this.start && span.to >= this.stop;
    this.chosen = whole ? null : span;
  }

  /** Turn the page when the cursor leaves what is shown. */
  follow(row: number): void {
    if (row === this.parked) return;
    this.parked = -1;
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
    this.parked = this.clock.row;
    const [from, to] = (settings.window ?? "").split("-").map(Number);
    if (from !== undefined && to !== undefined && to > from) this.show(this.start + from, this.start + to);
  }
}

export const windowKeys = ["scope", "window"];
