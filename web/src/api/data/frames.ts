/** Rows of an array in slices, fetched ahead of the cursor and forgotten when they have not been used for long. */
import { isAbort, messageOf } from "../errors";
import type { ArraySpec } from "../model";
import type { ArraySlice, RecordingService } from "../service";

export interface Frame {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly values: ArraySlice["values"];
}

type Slot =
  | { state: "coming"; stop: AbortController }
  | { state: "here"; slice: ArraySlice }
  | { state: "failed"; message: string };

const cacheBytes = 64e6;
const sliceCacheBytes = 1.5e6;

export class FrameStore {
  readonly sliceRows: number;
  private readonly slots = new Map<number, Slot>();
  private readonly cacheSlices: number;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly service: RecordingService,
    readonly spec: ArraySpec,
    private readonly rows: number,
  ) {
    const bytes = rowBytes(spec);
    const fitting = 2 ** Math.floor(Math.log2(Math.max(1, sliceCacheBytes / bytes)));
    this.sliceRows = Math.min(32, Math.max(1, fitting));
    this.cacheSlices = Math.max(6, Math.floor(cacheBytes / (bytes * this.sliceRows)));
  }

  onArrival(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The row if it is here; asks for it, and for what follows, if not. */
  at(row: number, ahead = 1): Frame | null {
    const index = Math.floor(row / this.sliceRows);
    for (let i = 0; i <= ahead; i++) this.ask(index + i);
    const slot = this.slots.get(index);
    if (slot?.state !== "here") return null;
    this.slots.delete(index);
    this.slots.set(index, slot);
    return frameOf(slot.slice, row - index * this.sliceRows);
  }

  /** Why a row cannot be shown. */
  problem(row: number): string | null {
    const slot = this.slots.get(Math.floor(row / this.sliceRows));
    return slot?.state === "failed" ? slot.message : null;
  }

  /** Whether playback may go on to this row: it is here, or it will never be. */
  ready(row: number): boolean {
    const slot = this.slots.get(Math.floor(row / this.sliceRows));
    return slot?.state === "here" || slot?.state === "failed";
  }

  /** Give up what was asked for and is not near `row`. */
  focus(row: number): void {
    const index = Math.floor(row / this.sliceRows);
    for (const [at, slot] of this.slots) {
      if (slot.state === "coming" && Math.abs(at - index) > 2) {
        slot.stop.abort();
        this.slots.delete(at);
      }
    }
  }

  private ask(index: number): void {
    const start = index * this.sliceRows;
    if (start >= this.rows || start < 0 || this.slots.has(index)) return;
    const stop = new AbortController();
    this.slots.set(index, { state: "coming", stop });
    const range = { start, stop: Math.min(this.rows, start + this.sliceRows) };
    this.service.array(this.spec.name, range, stop.signal).then(
      (slice) => this.settle(index, { state: "here", slice }),
      (problem: unknown) => {
        if (!isAbort(problem)) this.settle(index, { state: "failed", message: messageOf(problem) });
      },
    );
  }

  private settle(index: number, slot: Slot): void {
    this.slots.set(index, slot);
    for (const [old, other] of this.slots) {
      if (this.slots.size <= this.cacheSlices) break;
      if (other.state !== "coming" && old !== index) this.slots.delete(old);
    }
    for (const listener of this.listeners) listener();
  }
}

function frameOf(slice: ArraySlice, index: number): Frame | null {
  const shape = slice.shape.slice(1);
  const size = shape.reduce((product, n) => product * n, 1);
  if ((index + 1) * size > slice.values.length) return null;
  return { shape, dtype: slice.dtype, values: slice.values.subarray(index * size, (index + 1) * size) };
}

const widths: Record<string, number> = {
  uint8: 1,
  int8: 1,
  bool: 1,
  float16: 2,
  uint16: 2,
  int16: 2,
  float64: 8,
  int64: 8,
};

function rowBytes(spec: ArraySpec): number {
  return spec.shape.reduce((product, n) => product * n, widths[spec.dtype] ?? 4);
}
