/** Good and bad of each factor at every step that was rolled out: asked for one after another, so that moves come first. */
import { isAbort } from "../../api/errors";
import type { WhatIfService } from "../../api/whatif";
import { rowOf } from "./frames";

interface TotalsRequest {
  readonly key: string;
  readonly result: string;
  readonly cells: number;
}

const nameOf = ({ key, result }: Pick<TotalsRequest, "key" | "result">): string => `${result} ${key}`;

export class WhatIfTotals {
  private readonly found = new Map<string, ArrayLike<number> | "lost">();
  private wanted: readonly TotalsRequest[] = [];
  /** The one that is being asked for. */
  private now: TotalsRequest | null = null;
  private turn = 0;

  constructor(
    private readonly api: WhatIfService,
    private readonly arrived: () => void,
  ) {}

  clear(): void {
    this.turn++;
    this.found.clear();
    this.wanted = [];
  }

  /** The service knows the rollout again: what could not be had may be asked for once more. */
  retry(): void {
    for (const [name, found] of this.found) if (found === "lost") this.found.delete(name);
  }

  /** [factor, sign] of a node, if it is here. */
  at(key: string, result: string): ArrayLike<number> | null {
    const found = this.found.get(nameOf({ key, result }));
    return typeof found === "object" ? found : null;
  }

  /** Have those of some nodes, the last one first: that is where somebody looks. */
  want(keys: readonly string[], result: string, cells: number): void {
    const known = (one: TotalsRequest): boolean =>
      this.found.has(nameOf(one)) || (this.now !== null && nameOf(this.now) === nameOf(one));
    this.wanted = keys.map((key) => ({ key, result, cells })).filter((one) => !known(one));
    if (this.now === null) void this.run();
  }

  private async run(): Promise<void> {
    for (this.now = this.next(); this.now; this.now = this.next()) {
      const [turn, one] = [this.turn, this.now];
      try {
        const { totals } = rowOf(await this.api.factors(one.key, one.result), one.cells);
        if (turn === this.turn) this.found.set(nameOf(one), totals);
      } catch (problem) {
        // A rollout that was left meanwhile cannot be asked.
        if (turn === this.turn && !isAbort(problem)) this.found.set(nameOf(one), "lost");
      }
      this.arrived();
    }
  }

  private next(): TotalsRequest | null {
    const last = this.wanted.at(-1) ?? null;
    this.wanted = this.wanted.slice(0, -1);
    return last;
  }
}
