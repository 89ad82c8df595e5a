/** The one time cursor: which row is shown, and whether time passes. */
export class Clock {
  start = $state(0);
  stop = $state(0);
  stepsPerSecond = 15;
  private place = $state(0);
  private runs = $state(false);
  private pace = $state(1);
  private waits = $state(false);
  /** Asked before going on, so that playback waits for pictures instead of skipping them. */
  private readonly readiness = new Set<(row: number) => boolean>();

  private owed = 0;
  private last_ms = 0;

  /** A clock with a leader is always at the same step as that one, or at its own last. */
  constructor(private readonly leader: Clock | null = null) {}

  row = $derived.by((): number =>
    this.leader ? Math.max(this.start, Math.min(this.stop - 1, this.start + this.leader.step)) : this.place,
  );
  step: number = $derived(this.row - this.start);
  length = $derived(this.stop - this.start);
  playing = $derived.by((): boolean => this.leader?.playing ?? this.runs);
  waiting = $derived.by((): boolean => this.leader?.waiting ?? this.waits);

  get speed(): number {
    return this.leader?.speed ?? this.pace;
  }

  set speed(speed: number) {
    if (this.leader) this.leader.speed = speed;
    else this.pace = speed;
  }

  focus(start: number, stop: number, row = start): void {
    this.start = start;
    this.stop = stop;
    if (!this.leader) this.seek(row);
  }

  seek(row: number): void {
    if (this.leader) return this.leader.seek(this.leader.start + row - this.start);
    this.place = Math.max(this.start, Math.min(this.stop - 1, Math.round(row)));
    this.owed = 0;
  }

  by(steps: number): void {
    if (this.leader) return this.leader.by(steps);
    this.pause();
    this.seek(this.row + steps);
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  play(): void {
    if (this.leader) return this.leader.play();
    if (this.length < 2) return;
    if (this.row >= this.stop - 1) this.seek(this.start);
    this.runs = true;
    this.owed = 0;
    this.last_ms = performance.now();
    requestAnimationFrame((now) => this.tick(now));
  }

  pause(): void {
    if (this.leader) return this.leader.pause();
    this.runs = false;
    this.waits = false;
  }

  /** Playback goes on to a row only where it is ready; gives back how to let go. */
  waitFor(ready: (row: number) => boolean): () => void {
    const { leader } = this;
    if (leader) return leader.waitFor((row) => ready(Math.min(this.stop - 1, this.start + row - leader.start)));
    this.readiness.add(ready);
    return () => void this.readiness.delete(ready);
  }

  private tick(now_ms: number): void {
    if (!this.runs) return;
    const passed = Math.min(0.25, Math.max(0, now_ms - this.last_ms) / 1000);
    this.last_ms = now_ms;
    const next = this.row + 1;
    // All are asked, so that all fetch what comes next.
    this.waits = next < this.stop && [...this.readiness].map((ready) => ready(next)).includes(false);
    if (!this.waits) this.advance(passed);
    if (this.row >= this.stop - 1) this.pause();
    if (this.runs) requestAnimationFrame((now) => this.tick(now));
  }

  private advance(passed_s: number): void {
    this.owed += passed_s * this.stepsPerSecond * this.pace;
    const whole = Math.floor(this.owed);
    if (whole < 1) return;
    this.owed -= whole;
    this.place = Math.min(this.stop - 1, this.place + whole);
  }
}
