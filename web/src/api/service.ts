/** Every route of the service, by name. */
import { decodeTable } from "./data/arrow";
import { byPrediction, readPredictedName } from "./data/predicted";
import { Client } from "./client";
import { MetricsApi } from "./metrics";
import type { ColumnData } from "./data/columns";
import type {
  Age,
  DocsPage,
  FirstDifference,
  Job,
  JobRequest,
  SavedSelection,
  LensInfo,
  LiveSubject,
  OrderAsk,
  OrderReply,
  RecordingInfo,
  Scene,
  StudyInfo,
} from "./model";

export interface ArraySlice {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly values: Uint8Array | Float32Array | Int32Array | Float64Array;
}

export interface Range {
  readonly start: number;
  readonly stop: number;
}

export class Service {
  readonly metrics: MetricsApi;

  constructor(readonly client = new Client()) {
    this.metrics = new MetricsApi(client);
  }

  study = (): Promise<StudyInfo> => this.client.json("/api/study");
  /** Names by kind that the recordings know. */
  vocabulary = (): Promise<Record<string, string[]>> => this.client.json("/api/vocabulary");
  recording = (name: string): Promise<RecordingInfo> => this.client.json(`/api/recordings/${encodeURIComponent(name)}`);
  subject = (name: string): Promise<LiveSubject> => this.client.json(`/api/subjects/${encodeURIComponent(name)}`);
  /** Subjects at several steps of their training, by run and step. */
  ages = (): Promise<Age[]> => this.client.json("/api/ages");
  docs = async (slug: string): Promise<DocsPage> => {
    const page = await this.client.json<DocsPage>(`/api/docs/${encodeURIComponent(slug)}`);
    const pictures = "/api/docs-pictures/";
    return { ...page, html: page.html.replaceAll(`src="${pictures}`, `src="${this.client.address(pictures)}`) };
  };
  lenses = (): Promise<LensInfo[]> => this.client.json("/api/lenses");
  jobs = (): Promise<Job[]> => this.client.json("/api/jobs");
  start = (body: JobRequest): Promise<Job> => this.client.json("/api/jobs", { method: "POST", body });
  cancel = (id: string): Promise<Job> =>
    this.client.json(`/api/jobs/${encodeURIComponent(id)}/cancel`, { method: "POST" });
  resume = (id: string): Promise<Job> =>
    this.client.json(`/api/jobs/${encodeURIComponent(id)}/resume`, { method: "POST" });
  selections = (): Promise<SavedSelection[]> => this.client.json("/api/selections");
  /** Both give all that are saved then. */
  saveSelection = (body: SavedSelection): Promise<SavedSelection[]> =>
    this.client.json("/api/selections", { method: "PUT", body });
  dropSelection = ({ recording, name }: SavedSelection): Promise<SavedSelection[]> =>
    this.client.json(`/api/selections?${new URLSearchParams({ recording, name })}`, { method: "DELETE" });

  /** What people call the parts of a result, by part. */
  names = (result: string): Promise<Record<string, string>> =>
    this.client.json(`/api/names/${encodeURIComponent(result)}`);
  /** An empty name is none. */
  saveName = (result: string, part: number, name: string): Promise<unknown> =>
    this.client.json(`/api/names/${encodeURIComponent(result)}`, { method: "PATCH", body: { [part]: name } });

  /** Where two runs diverge, each the rows of a recording. */
  firstDifference = (a: Range & { recording: string }, b: Range & { recording: string }): Promise<FirstDifference> => {
    const rows = { start: a.start, stop: a.stop, other_start: b.start, other_stop: b.stop };
    const query = new URLSearchParams(Object.entries(rows).map(([key, row]) => [key, String(row)]));
    query.set("other", b.recording);
    return this.client.json(`/api/recordings/${encodeURIComponent(a.recording)}/divergence?${query}`);
  };

  /** Elements of a memory array in an order, with a score each. */
  order = (ask: OrderAsk): Promise<OrderReply> => {
    const { recording, ...rest } = ask;
    const query = new URLSearchParams(Object.entries(rest).map(([key, value]) => [key, String(value)]));
    return this.client.json(`/api/recordings/${encodeURIComponent(recording)}/order?${query}`);
  };

  /** Everything below reads one version of a recording, told apart by its etag, so that the browser may keep it. */
  of(recording: RecordingInfo): RecordingService {
    return new RecordingService(this.client, recording.name, recording.etag);
  }
}

export class RecordingService {
  protected readonly root: string;

  constructor(
    private readonly client: Client,
    name: string,
    private readonly etag: string,
  ) {
    this.root = `/api/recordings/${encodeURIComponent(name)}`;
  }

  async columns(names: readonly string[], range: Range, signal?: AbortSignal): Promise<Map<string, ColumnData>> {
    const parts = [...byPrediction(names)].map(async ([prediction, some]) => {
      const query = this.query({ start: range.start, stop: range.stop });
      for (const name of some) query.append("names", readPredictedName(name)?.column ?? name);
      const place = prediction ? `${this.root}/predictions/${encodeURIComponent(prediction)}` : this.root;
      const table = decodeTable((await this.client.bytes(`${place}/columns?${query}`, signal)).buffer);
      return some.map((name) => [name, table.get(readPredictedName(name)?.column ?? name)!] as const);
    });
    return new Map((await Promise.all(parts)).flat());
  }

  async groups(): Promise<Map<string, ColumnData>> {
    return decodeTable((await this.client.bytes(`${this.root}/groups?${this.query({})}`)).buffer);
  }

  scene(key: string, signal?: AbortSignal): Promise<Scene> {
    const path = `${this.root}/scenes/${encodeURIComponent(key)}?${this.query({})}`;
    return this.client.json(path, signal ? { signal } : {});
  }

  /** Rows of an array; with a step, every so manieth. */
  async array(name: string, range: Range & { step?: number }, signal?: AbortSignal): Promise<ArraySlice> {
    const { start, stop, step = 1 } = range;
    const query = this.query(step > 1 ? { start, stop, step } : { start, stop });
    const path = `${this.root}/arrays/${encodeURIComponent(name)}?${query}`;
    return slice(await this.client.bytes(path, signal));
  }

  /** One tile of a memory array, or how much of the coarse levels is built so far. */
  async tile(
    array: string,
    { grid, level, index }: { grid: { start: number; stop: number; whole: boolean }; level: number; index: number },
    signal?: AbortSignal,
  ): Promise<{ building: number } | { bins: number; values: Float32Array | Uint16Array }> {
    const rows: Record<string, number> = grid.whole ? {} : { start: grid.start, stop: grid.stop };
    const path = `${this.root}/tiles/${encodeURIComponent(array)}?${this.query({ level, tile: index, ...rows })}`;
    const { buffer, headers } = await this.client.bytes(path, signal);
    const building = headers.get("x-innerview-building");
    if (building !== null) return { building: Number(building) };
    const half = headers.get("x-innerview-dtype") === "float16";
    const bins = Number((headers.get("x-innerview-shape") ?? "0").split(",")[0]);
    return { bins, values: half ? new Uint16Array(buffer) : new Float32Array(buffer) };
  }

  /** An array of something that a lens found in this recording. */
  async resultArray(result: string, array: string): Promise<ArraySlice> {
    const path = `/api/results/${encodeURIComponent(result)}/arrays/${encodeURIComponent(array)}`;
    return slice(await this.client.bytes(path));
  }

  /** The picture of a scene's map. */
  mapAddress(scene: string): string {
    return this.client.address(`${this.root}/scenes/${encodeURIComponent(scene)}/map?${this.query({})}`);
  }

  imageAddress(array: string, row: number): string {
    return this.client.address(
      `${this.root}/images/${encodeURIComponent(array)}/${row}?${this.query({ format: "png" })}`,
    );
  }

  protected bytes(path: string, signal?: AbortSignal): ReturnType<Client["bytes"]> {
    return this.client.bytes(path, signal);
  }

  private query(values: Record<string, string | number>): URLSearchParams {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(values)) query.set(key, String(value));
    if (this.etag) query.set("v", this.etag);
    return query;
  }
}

export function slice({ buffer, headers }: { buffer: ArrayBuffer; headers: Headers }): ArraySlice {
  const shape = (headers.get("x-innerview-shape") ?? "").split(",").map(Number);
  const dtype = headers.get("x-innerview-dtype") ?? "uint8";
  return { shape, dtype, values: typed(buffer, dtype) };
}

export function typed(buffer: ArrayBuffer, dtype: string): ArraySlice["values"] {
  switch (dtype) {
    case "uint8":
    case "bool":
      return new Uint8Array(buffer);
    case "int32":
      return new Int32Array(buffer);
    case "int16":
      return Int32Array.from(new Int16Array(buffer));
    case "int8":
      return Int32Array.from(new Int8Array(buffer));
    case "uint16":
      return Int32Array.from(new Uint16Array(buffer));
    case "float64":
      return new Float64Array(buffer);
    case "float16":
      return Float32Array.from(new Uint16Array(buffer), half);
    case "int64":
      return Float64Array.from(new BigInt64Array(buffer), Number);
    default:
      return new Float32Array(buffer);
  }
}

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
