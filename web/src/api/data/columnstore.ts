/** Columns of one recording: slices for what is on screen, whole columns when a question needs them all. */
import { bytesOf, join, part, type ColumnData } from "./columns";
import { ApiError } from "../errors";
import type { Range, RecordingService } from "../service";

/** Rows that cannot be read, and the service's words for it. */
export interface Hole extends Range {
  readonly message: string;
}

export interface Loaded {
  readonly columns: Map<string, ColumnData>;
  readonly holes: readonly Hole[];
}

const chunkRows = 1 << 19;
const smallestPart = 256;
const cacheBytes = 160e6;

export class ColumnStore {
  private readonly kept = new Map<string, { data: ColumnData; holes: readonly Hole[] }>();
  private readonly coming = new Map<string, Promise<ColumnData>>();

  constructor(
    private readonly service: RecordingService,
    readonly rows: number,
  ) {}

  /** A whole column if it is here already. */
  now(name: string): ColumnData | undefined {
    return this.kept.get(name)?.data;
  }

  /** A whole column; damaged rows are unknown. */
  whole(name: string): Promise<ColumnData> {
    const here = this.kept.get(name);
    if (here) {
      this.kept.delete(name);
      this.kept.set(name, here);
      return Promise.resolve(here.data);
    }
    const coming = this.coming.get(name) ?? this.fetchWhole(name).finally(() => this.coming.delete(name));
    this.coming.set(name, coming);
    return coming;
  }

  /** Several whole columns, asked for together where they are not here. */
  async wholes(names: readonly string[]): Promise<ColumnData[]> {
    const missing = names.filter((name) => !this.kept.has(name) && !this.coming.has(name));
    const load = missing.length > 1 ? this.fetchWholes(missing) : null;
    for (const name of load ? missing : []) {
      const one = load!.then((found) => found.get(name)!).finally(() => this.coming.delete(name));
      this.coming.set(name, one);
    }
    return Promise.all(names.map((name) => this.whole(name)));
  }

  /** Some columns over some rows; damaged rows are unknown and listed as holes. */
  async slice(names: readonly string[], range: Range, signal?: AbortSignal): Promise<Loaded> {
    const missing = names.filter((name) => !this.kept.has(name));
    const columns = new Map<string, ColumnData>();
    const holes: Hole[] = [];
    if (missing.length) {
      const pieces = await this.tolerant(missing, range, signal);
      missing.forEach((name) => columns.set(name, join(pieces.map((p) => p.columns?.get(name) ?? p.stop - p.start))));
      holes.push(...holesOf(pieces));
    }
    for (const name of names) {
      const whole = this.kept.get(name);
      if (whole) columns.set(name, part(whole.data, range.start, range.stop));
    }
    return { columns, holes };
  }

  private async fetchWhole(name: string): Promise<ColumnData> {
    return (await this.fetchWholes([name])).get(name)!;
  }

  private async fetchWholes(names: readonly string[]): Promise<Map<string, ColumnData>> {
    const pieces: Piece[] = [];
    for (let start = 0; start < this.rows; start += chunkRows)
      pieces.push(...(await this.tolerant(names, { start, stop: Math.min(this.rows, start + chunkRows) })));
    const found = names.map(
      (name) => [name, join(pieces.map((p) => p.columns?.get(name) ?? p.stop - p.start))] as const,
    );
    for (const [name, data] of found) this.kept.set(name, { data, holes: holesOf(pieces) });
    this.forgetOldest();
    return new Map(found);
  }

  private forgetOldest(): void {
    let total = 0;
    for (const { data } of this.kept.values()) total += bytesOf(data);
    for (const [name, { data }] of this.kept) {
      if (total <= cacheBytes || this.kept.size === 1) return;
      this.kept.delete(name);
      total -= bytesOf(data);
    }
  }

  /** Whether a small range that is damaged begins or ends well: recordings may be in blocks smaller than ours. */
  private async endsReadable(names: readonly string[], { start, stop }: Range, signal?: AbortSignal): Promise<boolean> {
    if (stop - start < 2) return false;
    for (const row of [start, stop - 1]) {
      const [piece] = await this.tolerant(names, { start: row, stop: row + 1 }, signal);
      if (piece?.columns) return true;
    }
    return false;
  }

  /** Read a range; where a part is damaged, read around it, halving until the damage is framed. */
  private async tolerant(names: readonly string[], range: Range, signal?: AbortSignal): Promise<Piece[]> {
    if (range.stop <= range.start) return [];
    try {
      return [{ ...range, message: "", columns: await this.service.columns(names, range, signal) }];
    } catch (problem) {
      if (!(problem instanceof ApiError && problem.damaged)) throw problem;
      const small = range.stop - range.start <= smallestPart;
      if (small && !(await this.endsReadable(names, range, signal)))
        return [{ ...range, message: problem.message, columns: null }];
      const middle = halfway(range);
      const left = await this.tolerant(names, { start: range.start, stop: middle }, signal);
      return [...left, ...(await this.tolerant(names, { start: middle, stop: range.stop }, signal))];
    }
  }
}

/** Pieces that could not be read; neighbours are one hole. */
function holesOf(pieces: readonly Piece[]): Hole[] {
  const holes: Hole[] = [];
  for (const { start, stop, message, columns } of pieces) {
    if (columns) continue;
    const before = holes.at(-1);
    if (before?.stop === start) holes[holes.length - 1] = { ...before, stop };
    else holes.push({ start, stop, message });
  }
  return holes;
}

interface Piece extends Hole {
  readonly columns: Map<string, ColumnData> | null;
}

/** The multiple of the smallest part nearest the middle: blocks are committed in such multiples. */
function halfway(range: Range): number {
  const middle = Math.round((range.start + range.stop) / 2 / smallestPart) * smallestPart;
  return middle > range.start && middle < range.stop ? middle : (range.start + range.stop) >>> 1;
}
