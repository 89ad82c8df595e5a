/** Lines of a slit, read off the pictures of a recording in small slices; of the pictures nothing is kept. */
import { isAbort, messageOf } from "../../../api/errors";
import type { ArraySpec } from "../../../api/model";
import type { RecordingService } from "../../../api/service";
import { toImage } from "../../../marks/picture";
import { lengthOf, lineOf, rowsFor, type Slit } from "./slit";

const sliceBytes = 1.5e6;
const cacheBytes = 12e6;

export interface LineRequest {
  readonly slit: Slit;
  readonly from: number;
  readonly to: number;
  /** Places on screen. */
  readonly places: number;
}

export class SlitLines {
  private readonly lines = new Map<number, Uint8Array>();
  private slit = "";
  private stop = new AbortController();
  private readonly rowBytes: number;

  constructor(
    private readonly service: RecordingService,
    private readonly spec: ArraySpec,
    private readonly rows: number,
  ) {
    this.rowBytes = spec.shape.reduce((product, n) => product * n, spec.dtype === "uint8" ? 1 : 4);
  }

  get(row: number): Uint8Array | undefined {
    return this.lines.get(row);
  }

  /** Read what is missing, telling after every slice; a newer wish ends an older one. */
  async want(wanted: LineRequest, arrived: (left: number) => void): Promise<string> {
    this.stop.abort();
    const { signal } = (this.stop = new AbortController());
    const key = JSON.stringify(wanted.slit);
    if (key !== this.slit) this.lines.clear();
    this.slit = key;
    const { start, step, count } = rowsFor(wanted.from, Math.min(wanted.to, this.rows), wanted.places);
    const missing = Array.from({ length: count }, (_, i) => start + i * step).filter((row) => !this.lines.has(row));
    const each = Math.max(1, Math.floor(sliceBytes / this.rowBytes));
    try {
      for (let i = 0; i < missing.length;) {
        let last = i;
        while (last + 1 < missing.length && last + 1 - i < each && missing[last + 1] === missing[last]! + step) last++;
        await this.read(missing[i]!, missing[last]! + 1, step, wanted.slit, signal);
        i = last + 1;
        if (signal.aborted) return "";
        arrived(missing.length - i);
      }
    } catch (problem) {
      return signal.aborted || isAbort(problem) ? "" : messageOf(problem);
    }
    return "";
  }

  close(): void {
    this.stop.abort();
  }

  private async read(start: number, stop: number, step: number, slit: Slit, signal: AbortSignal): Promise<void> {
    const { shape, dtype, values } = await this.service.array(this.spec.name, { start, stop, step }, signal);
    const size = shape.slice(1).reduce((product, n) => product * n, 1);
    for (let i = 0; i < shape[0]! && !signal.aborted; i++) {
      const part = values.subarray(i * size, (i + 1) * size);
      const image = toImage({ shape: shape.slice(1), dtype, values: part }, this.spec.elements);
      if (image) this.lines.set(start + i * step, lineOf(image, slit));
    }
    const most = Math.max(2_000, cacheBytes / (3 * lengthOf(slit)));
    for (const row of this.lines.keys()) {
      if (this.lines.size <= most) break;
      this.lines.delete(row);
    }
  }
}
