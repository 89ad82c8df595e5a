/** Tiles of a memory array: asked for as they come into view, kept within bounds, coarse ones shown meanwhile. */
import { isAbort, messageOf } from "../errors";
import type { RecordingService } from "../service";

export const binsPerTile = 256;

/** The rows that tiles divide: an episode, or the whole recording. */
export interface Grid {
  readonly start: number;
  readonly stop: number;
  readonly whole: boolean;
}

/** Values of consecutive bins, [bins, elements]. */
export interface Numbers {
  readonly first: number;
  readonly rowsPerBin: number;
  readonly rows: number;
  readonly bins: number;
  readonly elements: number;
  /** Exact at level 0, means as packed 16-bit floats above. */
  readonly values: Float32Array | Uint16Array;
}

export interface Tile extends Numbers {
  readonly level: number;
  readonly index: number;
}

interface TileRequest {
  readonly key: string;
  readonly grid: Grid;
  readonly level: number;
  readonly index: number;
}

/** A tile, or the part of a coarser one that stands in for it until it is here. */
export interface Piece {
  readonly tile: Tile;
  readonly from: number;
  readonly to: number;
}

/** Whatever can feed a heat map. */
export interface HeatSource {
  cover(grid: Grid, from: number, to: number, level: number): { tile: Numbers; from: number; to: number }[];
  complete(grid: Grid, from: number, to: number, level: number): boolean;
  onArrival(listener: () => void): () => void;
}

const keyOf = (grid: Grid, level: number, index: number): string => `${grid.start}:${grid.stop}:${level}:${index}`;

const cacheBytes = 96e6;
const atOnce = 6;
const askAgain_ms = 250;

export function topLevel({ start, stop }: Grid): number {
  return Math.max(0, Math.ceil(Math.log2(Math.max(1, stop - start) / binsPerTile)));
}

/** The level whose bins are no longer than a pixel. */
export function levelFor(grid: Grid, rowsPerPixel: number): number {
  return Math.max(0, Math.min(topLevel(grid), Math.floor(Math.log2(Math.max(1, rowsPerPixel)) + 1e-9)));
}

export class TileStore implements HeatSource {
  /** How much of the coarse levels is built, while the service builds them. */
  building: number | null = null;
  problem = "";
  private readonly cached = new Map<string, Tile>();
  private readonly failed = new Map<string, string>();
  private readonly coming = new Map<string, AbortController>();
  private queue: TileRequest[] = [];
  private bytes = 0;
  private again = 0;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly service: RecordingService,
    readonly array: string,
    readonly elements: number,
  ) {}

  onArrival(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Bytes of numbers that are held. */
  get held(): number {
    return this.bytes;
  }

  close(): void {
    clearTimeout(this.again);
    this.queue = [];
    for (const stop of this.coming.values()) stop.abort();
    this.coming.clear();
    this.cached.clear();
    this.bytes = 0;
    this.listeners.clear();
  }

  /** What can be drawn of these rows now, each row once, and a request for what is missing. */
  cover(grid: Grid, from: number, to: number, level: number): Piece[] {
    const wanted = this.within(grid, level, from, to);
    this.want(grid, from, to, level, wanted);
    return wanted.flatMap((one) => {
      const first = grid.start + one.index * binsPerTile * 2 ** level;
      const rows = { from: first, to: Math.min(grid.stop, first + binsPerTile * 2 ** level) };
      const tile = this.finestHere(one);
      return tile ? [{ tile, ...rows }] : [];
    });
  }

  /** The tile itself, or the least coarse one that holds its rows. */
  private finestHere({ grid, level, index }: TileRequest): Tile | null {
    for (let coarse = level; coarse <= topLevel(grid); coarse++) {
      const tile = this.touch(keyOf(grid, coarse, Math.floor(index / 2 ** (coarse - level))));
      if (tile) return tile;
    }
    return null;
  }

  /** Whether everything at this level is here. */
  complete(grid: Grid, from: number, to: number, level: number): boolean {
    return this.within(grid, level, from, to).every(({ key }) => this.cached.has(key) || this.failed.has(key));
  }

  /** The one tile that holds everything, if it is here; `cover` asks for it. */
  overview(grid: Grid): Tile | null {
    return this.touch(keyOf(grid, topLevel(grid), 0));
  }

  /** A tile if it is here; asks for it if not. */
  exact(grid: Grid, row: number): Tile | null {
    const [wanted] = this.within(grid, 0, row, row + 1);
    if (!wanted) return null;
    const tile = this.cached.get(wanted.key);
    if (!tile && !this.coming.has(wanted.key) && !this.failed.has(wanted.key)) {
      this.queue.unshift(wanted);
      this.pump();
    }
    return tile ?? null;
  }

  private within(grid: Grid, level: number, from: number, to: number): TileRequest[] {
    const rows = binsPerTile * 2 ** level;
    const first = Math.max(0, Math.floor((from - grid.start) / rows));
    const last = Math.min(Math.ceil((grid.stop - grid.start) / rows), Math.ceil((to - grid.start) / rows));
    return Array.from({ length: Math.max(0, last - first) }, (_, i) => {
      const index = first + i;
      return { key: keyOf(grid, level, index), grid, level, index };
    });
  }

  private touch(key: string): Tile | null {
    const tile = this.cached.get(key);
    if (!tile) return null;
    this.cached.delete(key);
    this.cached.set(key, tile);
    return tile;
  }

  /** In view first, the one coarse tile of everything before all, then a screen to both sides and the next coarser level. */
  private want(grid: Grid, from: number, to: number, level: number, visible: readonly TileRequest[]): void {
    const top = topLevel(grid);
    const side = to - from;
    const all = [
      ...this.within(grid, top, grid.start, grid.start + 1),
      ...visible,
      ...(level + 1 < top ? this.within(grid, level + 1, from - side / 2, to + side / 2) : []),
      ...this.within(grid, level, from - side / 2, to + side / 2),
    ];
    const keys = new Set(all.map(({ key }) => key));
    const own = `${grid.start}:${grid.stop}:`; // other pictures may be drawn from here at the same time
    for (const [key, stop] of this.coming) {
      if (keys.has(key) || !key.startsWith(own)) continue;
      stop.abort();
      this.coming.delete(key);
    }
    const others = this.queue.filter(({ key }) => !key.startsWith(own)).slice(0, 64);
    const mine = all.filter(({ key }, i) => !this.has(key) && all.findIndex((other) => other.key === key) === i);
    this.queue = [...mine, ...others];
    this.pump();
  }

  private has(key: string): boolean {
    return this.cached.has(key) || this.coming.has(key) || this.failed.has(key);
  }

  private pump(): void {
    while (this.coming.size < atOnce && this.queue.length) {
      const next = this.queue.shift()!;
      if (!this.has(next.key)) this.ask(next);
    }
  }

  private ask(wanted: TileRequest): void {
    const stop = new AbortController();
    this.coming.set(wanted.key, stop);
    this.service.tile(this.array, wanted, stop.signal).then(
      (reply) => {
        if (this.coming.get(wanted.key) !== stop) return;
        this.coming.delete(wanted.key);
        if ("building" in reply) this.later(reply.building);
        else this.settle(wanted, reply);
      },
      (problem: unknown) => {
        if (isAbort(problem)) return;
        this.coming.delete(wanted.key);
        this.failed.set(wanted.key, messageOf(problem));
        this.problem = messageOf(problem);
        this.notify();
      },
    );
  }

  private later(share: number): void {
    this.building = share;
    clearTimeout(this.again);
    this.again = window.setTimeout(() => this.notify(), askAgain_ms);
  }

  private settle({ key, grid, level, index }: TileRequest, reply: { values: Tile["values"]; bins: number }): void {
    if (level >= 4) this.building = null;
    const rowsPerBin = 2 ** level;
    const first = grid.start + index * binsPerTile * rowsPerBin;
    const rows = Math.min(grid.stop - first, reply.bins * rowsPerBin);
    const { elements } = this;
    this.cached.set(key, { level, index, first, rowsPerBin, rows, elements, ...reply });
    this.bytes += reply.values.byteLength;
    for (const [old, tile] of this.cached) {
      if (this.bytes <= cacheBytes) break;
      this.cached.delete(old);
      this.bytes -= tile.values.byteLength;
    }
    this.notify();
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
    this.pump();
  }
}
