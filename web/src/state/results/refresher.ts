/** Fetches what is wanted, one at a time, again whenever that changes, and no oftener than a pause allows. */
export class Refresher {
  /** What and in which state, parted by a space; empty for nothing. */
  now = "";
  private fetched = "";
  private running = false;

  constructor(
    private readonly bring: (wanted: string) => Promise<void>,
    private readonly pause_ms: number,
  ) {}

  /** Whoever leaves and comes back while it is fetched may have missed it: it is fetched again. */
  set(wanted: string): void {
    if (wanted !== this.now) this.fetched = "";
    this.now = wanted;
    void this.run();
  }

  /** Whether something is still wanted, in whatever state. */
  has(id: string): boolean {
    return this.now.startsWith(`${id} `);
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    while (this.now && this.now !== this.fetched) {
      this.fetched = this.now;
      await this.bring(this.now);
      if (this.now !== this.fetched) await new Promise((resolve) => setTimeout(resolve, this.pause_ms));
    }
    this.running = false;
  }
}
