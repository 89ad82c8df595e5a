/** The one time cursor: which row is shown, and whether time passes. */
export class Clock {
  row = $state(0);
  start = $state(0);
  stop = $state(0);
  playing = $state(false);
  speed = $state(1);
  waiting = $state(false);
  stepsPerSecond = 15;
  /** Asked before going on, so that playback waits for pictures instead of skipping them. */
  ready: (row: number) => boolean = () => true;

  private owed = 0;
  private last_ms = 0;

  step = $derived(this.row - this.start);
  length = $derived(this.stop - this.start);

  focus(start: number, stop: number, row = start): void {
    this.start = start;
    this.stop = stop;
    this.seek(row);
  }

  seek(row: number): void {
    this.row = Math.max(this.start, Math.min(this.stop - 1, Math.round(row)));
    this.owed = 0;
  }

  by(steps: number): void {
    this.pause();
    this.seek(this.row + steps);
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  play(): void {
    if (this.length < 2) return;
    if (this.row >= this.stop - 1) this.seek(this.start);
    this.playing = true;
    this.owed = 0;
    this.last_ms = performance.now();
    requestAnimationFrame((now) => this.tick(now));
  }

  pause(): void {
    this.playing = false;
    this.waiting = false;
  }

  private tick(now_ms: number): void {
    if (!this.playing) return;
    const passed = Math.min(0.25, Math.max(0, now_ms - this.last_ms) / 1000);
    this.last_ms = now_ms;
    const next = this.row + 1;
    this.waiting = next < this.stop && !this.ready(next);
    if (!this.waiting) this.advance(passed);
    if (this.row >= this.stop - 1) this.pause();
    if (this.playing) requestAnimationFrame((now) => this.tick(now));
  }

  private advance(passed_s: number): void {
    this.owed += passed_s * this.stepsPerSecond * this.speed;
    const whole = Math.floor(this.owed);
    if (whole < 1) return;
    this.owed -= whole;
    this.row = Math.min(this.stop - 1, this.row + whole);
  }
}
