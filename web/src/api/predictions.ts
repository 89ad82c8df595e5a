/** What other subjects predict for the rows of a recording. */
import { decodeTable } from "./data/arrow";
import type { Client } from "./client";
export { predictedName } from "./data/predicted";
import type { ColumnData } from "./data/columns";
import type { Prediction, RecordingInfo } from "./model";
import { RecordingService, slice, type ArraySlice, type Range } from "./service";

export const listPredictions = (client: Client, recording: string): Promise<Prediction[]> =>
  client.json(`/api/recordings/${encodeURIComponent(recording)}/predictions`);

/** A recording whose heads are those of another subject: what is not predicted comes from the recording itself. */
export class PredictedService extends RecordingService {
  private readonly place: string;
  private readonly columnsHere: ReadonlySet<string>;
  private readonly arraysHere: ReadonlySet<string>;

  constructor(
    client: Client,
    recording: RecordingInfo,
    private readonly prediction: Prediction,
  ) {
    super(client, recording.name, recording.etag);
    this.place = `${this.root}/predictions/${encodeURIComponent(prediction.id)}`;
    this.columnsHere = new Set(prediction.columns.map((column) => column.name));
    this.arraysHere = new Set(prediction.arrays.map((array) => array.name));
  }

  override async columns(
    names: readonly string[],
    range: Range,
    signal?: AbortSignal,
  ): Promise<Map<string, ColumnData>> {
    const rest = names.filter((name) => !this.columnsHere.has(name));
    const wanted = this.prediction.columns.filter((column) => names.includes(column.name));
    const query = new URLSearchParams({ start: String(range.start), stop: String(range.stop) });
    for (const column of wanted) query.append("names", column.name);
    const [recorded, predicted] = await Promise.all([
      rest.length ? super.columns(rest, range, signal) : new Map<string, ColumnData>(),
      wanted.length ? this.bytes(`${this.place}/columns?${query}`, signal) : null,
    ]);
    return new Map([...recorded, ...(predicted ? decodeTable(predicted.buffer) : [])]);
  }

  override async array(name: string, range: Range & { step?: number }, signal?: AbortSignal): Promise<ArraySlice> {
    if (!this.arraysHere.has(name)) return super.array(name, range, signal);
    const path = `${this.place}/arrays/${encodeURIComponent(name)}?start=${range.start}&stop=${range.stop}`;
    return slice(await this.bytes(path, signal));
  }
}
