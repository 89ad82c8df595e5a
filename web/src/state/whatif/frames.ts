/** What was seen at played nodes, and how much of each factor is in it: asked for once, forgotten with the rollout. */
import { isAbort, messageOf } from "../../api/errors";
import type { Frame } from "../../api/data/frames";
import type { WhatIfNode, WhatIfService } from "../../api/whatif";
import type { FactorRow } from "../vision/factorrows";

/** Nodes are asked for together, as many as make about so many bytes. */
const together = 2e6;
const minFrames = 4;
const maxFactors = 64;

export class WhatIfFrames {
  private readonly frames = new Map<string, Frame | "coming" | "lost">();
  private readonly rows = new Map<string, FactorRow | "coming" | "lost">();
  /** Why what is lost of them is lost. */
  private readonly problems = new Map<string, string>();
  private turn = 0;

  constructor(
    private readonly api: WhatIfService,
    private readonly arrived: () => void,
  ) {}

  clear(): void {
    this.turn++;
    this.frames.clear();
    this.rows.clear();
    this.problems.clear();
  }

  /** The service knows the rollout again: what could not be had may be asked for once more. */
  retry(): void {
    for (const map of [this.frames, this.rows]) for (const [name, found] of map) if (found === "lost") map.delete(name);
  }

  /** The frame of a node, if it is here; asks for it if not. */
  at(key: string, array: string): Frame | null {
    const found = this.frames.get(`${array} ${key}`);
    if (found === undefined) this.bring([key], array);
    return typeof found === "object" ? found : null;
  }

  /** Have the frames of many nodes that follow each other, a few requests for all. */
  want(nodes: readonly WhatIfNode[], array: string, bytes: number): void {
    const each = Math.max(minFrames, Math.min(256, Math.floor(together / Math.max(1, bytes))));
    let run: string[] = [];
    const send = (): void => {
      if (run.length) this.bring(run, array);
      run = [];
    };
    for (const { key } of nodes) {
      if (this.frames.has(`${array} ${key}`)) send();
      else run.push(key);
      if (run.length >= each) send();
    }
    send();
  }

  private bring(keys: readonly string[], array: string): void {
    const turn = this.turn;
    for (const key of keys) this.frames.set(`${array} ${key}`, "coming");
    this.api.frames(keys.at(-1)!, array, keys.length).then(
      (frames) => {
        if (turn !== this.turn) return;
        keys.forEach((key, i) => this.frames.set(`${array} ${key}`, frames[i] ?? "lost"));
        this.arrived();
      },
      (problem: unknown) => {
        // The rollout may have been left meanwhile; what is asked for again is played again.
        if (turn === this.turn && !isAbort(problem)) for (const key of keys) this.frames.set(`${array} ${key}`, "lost");
      },
    );
  }

  factors(key: string, result: string, cells: number): FactorRow | null {
    const name = `${result} ${key}`;
    const found = this.rows.get(name);
    if (found === undefined) this.split(name, key, result, cells);
    return typeof found === "object" ? found : null;
  }

  /** Why factors of a node cannot be had. */
  problem(key: string, result: string): string {
    const name = `${result} ${key}`;
    return this.rows.get(name) === "lost" ? (this.problems.get(name) ?? "") : "";
  }

  private split(name: string, key: string, result: string, cells: number): void {
    const turn = this.turn;
    this.rows.set(name, "coming");
    for (const [old, row] of this.rows) {
      if (this.rows.size <= maxFactors) break;
      if (row !== "coming") this.rows.delete(old);
    }
    this.api.factors(key, result).then(
      (values) => {
        if (turn !== this.turn) return;
        this.rows.set(name, rowOf(values, cells));
        this.arrived();
      },
      (problem: unknown) => {
        if (turn !== this.turn || isAbort(problem)) return;
        this.rows.set(name, "lost");
        this.problems.set(name, messageOf(problem));
        this.arrived();
      },
    );
  }
}

/** Amounts and, after them, what is left out. */
export function rowOf(values: ArrayLike<number>, cells: number): FactorRow {
  const all = Float32Array.from(values);
  const amounts = all.subarray(0, all.length - cells);
  const totals = new Float32Array((2 * amounts.length) / cells);
  let most = 0;
  amounts.forEach((amount, i) => {
    most = Math.max(most, Math.abs(amount));
    totals[2 * Math.floor(i / cells) + (amount < 0 ? 1 : 0)]! += Math.abs(amount);
  });
  return { amounts, rest: all.subarray(all.length - cells), totals, most };
}
