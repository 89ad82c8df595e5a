/** The stretch of time that every time axis shows: one zoom for memory, facts, decisions and the scrubber. */
import { choice, key, type Scope as Scoped } from "../address/address.svelte";
import type { Clock } from "./clock.svelte";
import { intervalFromText, type Interval } from "./interval";
import { moved, within, zoomed, type Span } from "../selection/span";

export type Scope = "episode" | "recording";

const scopeKey = choice<Scope>("scope", ["episode", "recording"]);
/** Steps of what can be shown, from the first to the one after the last. */
const windowKey = key<Interval | null>("window", {
  otherwise: null,
  read: (told) => intervalFromText(told) ?? undefined,
  write: (steps) => (steps ? steps.join("-") : ""),
});

/** Fewer rows than this are never shown: a cell would be as wide as a hand. */
const minRows = 4;

export class TimeWindow {
  /** Rows of the whole recording. */
  rows = $state(0);
  private ownScope = $state<Scope>("episode");
  private chosen = $state.raw<Span | null>(null);

  /** A link may show other rows than the cursor's; they stay until the cursor moves. */
  private parked = -1;

  constructor(
    private readonly clock: Clock,
    private readonly address: Scoped,
    private readonly leader: TimeWindow | null = null,
  ) {}

  scope = $derived.by((): Scope => this.leader?.scope ?? this.ownScope);
  /** First row of all that can be shown, and the one after the last. */
  start = $derived.by(() => (this.scope === "recording" ? 0 : this.clock.start));
  stop = $derived.by(() => (this.scope === "recording" ? this.rows : this.clock.stop));
  /** What is visible, in rows; between two rows while somebody drags. */
  from = $derived.by((): number =>
    this.leader
      ? this.fromLeader(this.leader.from)
      : Math.max(this.start, Math.min(this.chosen?.from ?? this.start, this.stop - this.least)),
  );
  to = $derived.by((): number =>
    this.leader
      ? this.fromLeader(this.leader.to)
      : Math.min(this.stop, Math.max(this.chosen?.to ?? this.stop, this.from + this.least)),
  );
  length = $derived(Math.max(1e-9, this.to - this.from));
  zoomed = $derived.by((): boolean => this.leader?.zoomed ?? (this.from > this.start || this.to < this.stop));

  private get least(): number {
    return Math.min(minRows, Math.max(1, this.stop - this.start));
  }

  /** Of episodes the same steps; of whole recordings the same part. */
  private fromLeader(row: number): number {
    const leader = this.leader!;
    const scale = this.scope === "recording" ? this.rows / Math.max(1, leader.rows) : 1;
    return this.start + (row - leader.start) * scale;
  }

  private toLeader(row: number): number {
    const leader = this.leader!;
    const scale = this.scope === "recording" ? leader.rows / Math.max(1, this.rows) : 1;
    return leader.start + (row - this.start) * scale;
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
    if (this.leader) return this.leader.show(this.toLeader(from), this.toLeader(to));
    this.set(within({ from, to }, this.bounds, this.least));
  }

  reset(): void {
    if (this.leader) return this.leader.reset();
    this.put(null);
  }

  /** Larger than 1 shows more; the row stays where it is on screen. */
  zoom(factor: number, around: number): void {
    if (this.leader) return this.leader.zoom(factor, this.toLeader(around));
    this.set(zoomed(this, factor, around, this.bounds, this.least));
  }

  pan(rows: number): void {
    if (this.leader) return this.leader.pan(this.toLeader(this.start + rows) - this.leader.start);
    if (this.zoomed) this.set(moved(this, rows, this.bounds));
  }

  private get bounds(): Span {
    return { from: this.start, to: this.stop };
  }

  private set(span: Span): void {
    const whole = span.from <= this.start && span.to >= this.stop;
    this.put(whole ? null : span);
  }

  private put(span: Span | null): void {
    this.chosen = span;
    const steps: Interval | null = span && [Math.round(span.from - this.start), Math.round(span.to - this.start)];
    this.address.set(windowKey, steps);
  }

  /** Turn the page when the cursor leaves what is shown. */
  follow(row: number): void {
    if (row === this.parked) return;
    this.parked = -1;
    if (!this.zoomed || (row >= this.from && row < this.to) || row < this.start || row >= this.stop) return;
    this.pan((row < this.from ? row + 1 - this.to : row - this.from) + (row < this.from ? 0.1 : -0.1) * this.length);
  }

  setScope(scope: Scope): void {
    if (this.leader) return this.leader.setScope(scope);
    this.ownScope = scope;
    this.address.set(scopeKey, scope);
    this.put(null);
  }

  /** Another episode is shown as a whole; of the whole recording we see what we saw. */
  moved(): void {
    if (this.scope === "episode" && !this.leader) this.put(null);
  }

  /** What the address says; to be read before the episode that it speaks of is shown. */
  get told(): { readonly scope: Scope; readonly steps: Interval | null } {
    return { scope: this.address.get(scopeKey), steps: this.address.get(windowKey) };
  }

  restore({ scope, steps }: TimeWindow["told"]): void {
    this.setScope(scope);
    this.parked = this.clock.row;
    if (steps) this.show(this.start + steps[0], this.start + steps[1]);
  }
}
