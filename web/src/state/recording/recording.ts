/** A recording that is open in the page: what it is, its groups, and its columns and arrays on demand. */
import type { ColumnData } from "../../api/data/columns";
import { ColumnStore } from "../../api/data/columnstore";
import { ApiError } from "../../api/errors";
import { FrameStore } from "../../api/data/frames";
import type { ArraySpec, Column, Pose, RecordingInfo } from "../../api/model";
import type { RecordingService, Service } from "../../api/service";
import { TileStore } from "../../api/data/tiles";
import { Groups, groupsFromRows } from "./groups";
import { numbersOf } from "../../api/data/columns";
import type { Bitset } from "../selection/bitset";
import { cloudFrom } from "../../api/layout";
import { columnsOf, type Cells, type Places, type Source, type Term } from "../selection/terms";

export class OpenRecording {
  readonly columns: ColumnStore;
  private readonly stores = new Map<string, FrameStore>();
  private readonly tileStores = new Map<string, TileStore>();
  private readonly known = new WeakMap<Source, Bitset>();
  private readonly layouts = new Map<string, Places>();
  private readonly prepared = new Map<string, { from: ColumnData; numbers: ArrayLike<number> }>();

  constructor(
    readonly info: RecordingInfo,
    readonly groups: Groups,
    readonly service: RecordingService,
    readonly groupProblem = "",
  ) {
    this.columns = new ColumnStore(service, info.rows);
  }

  static async open(service: Service, name: string): Promise<OpenRecording> {
    const info = await service.recording(name);
    const own = service.of(info);
    if (!info.ordering) return new OpenRecording(info, new Groups([]), own);
    try {
      return new OpenRecording(info, Groups.from(await own.groups(), info.ordering.group, info.rows), own);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      const column = await new ColumnStore(own, info.rows).whole(info.ordering.group);
      return new OpenRecording(info, groupsFromRows(column), own, problem.message);
    }
  }

  column(name: string): Column | undefined {
    return this.info.columns.find((column) => column.name === name);
  }

  /** What the subject sees: pictures before vectors. */
  get observation(): ArraySpec | undefined {
    const seen = this.info.arrays.filter((array) => array.role === "observation");
    return seen.find((array) => array.is_image) ?? seen[0];
  }

  get probabilities(): ArraySpec | undefined {
    return this.info.arrays.find((array) => array.role === "probabilities");
  }

  /** Whether the subject's recurrent state was kept. */
  get memory(): boolean {
    return this.info.ordering != null && this.info.arrays.some((array) => array.role === "memory");
  }

  /** Whether a subject looked at pictures, one after another. */
  get sees(): boolean {
    return this.info.ordering != null && this.info.subject != null && this.observation?.is_image === true;
  }

  get pictures(): ArraySpec[] {
    const found = this.info.arrays.filter((array) => array.is_image);
    // Depth and the like say less at a glance than colours.
    return found.sort((a, b) => Number(a.dtype !== "uint8") - Number(b.dtype !== "uint8"));
  }

  /** The columns of a pose on the map, where the world tells one. */
  get pose(): Pose | null {
    return this.info.pose.x && this.info.pose.y ? this.info.pose : null;
  }

  frames(spec: ArraySpec): FrameStore {
    const store = this.stores.get(spec.name) ?? new FrameStore(this.service, spec, this.info.rows);
    this.stores.set(spec.name, store);
    return store;
  }

  tiles(spec: ArraySpec): TileStore {
    const elements = spec.shape.reduce((product, n) => product * n, 1);
    const store = this.tileStores.get(spec.name) ?? new TileStore(this.service, spec.name, elements);
    this.tileStores.set(spec.name, store);
    return store;
  }

  /** Have at hand what an expression reads. */
  async prepare(terms: readonly Term[]): Promise<void> {
    const { numbers, words, layouts } = columnsOf(terms);
    const columns = [...numbers, ...words].map((name) => this.columns.whole(name));
    await Promise.all([...columns, ...layouts.map((id) => this.bringLayout(id))]);
  }

  private async bringLayout(id: string): Promise<void> {
    if (this.layouts.has(id)) return;
    const [places, rows] = await Promise.all([
      this.service.resultArray(id, "places"),
      this.service.resultArray(id, "rows"),
    ]);
    this.layouts.set(id, { cloud: cloudFrom(places.values), rows: rows.values });
  }

  /** Fetch what a brush may need next, one after another while nothing else happens, within bounds. */
  async warm(names: readonly string[], stopped: () => boolean): Promise<void> {
    if (this.info.rows > 4e6) return;
    for (const name of names.slice(0, Math.floor(100e6 / (4 * Math.max(1, this.info.rows))))) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      if (stopped()) return;
      await this.columns.whole(name);
    }
  }

  hasAll(terms: readonly Term[]): boolean {
    const { numbers, words, layouts } = columnsOf(terms);
    const here = [...numbers, ...words].every((name) => this.columns.now(name) !== undefined);
    return here && layouts.every((id) => this.layouts.has(id));
  }

  get cells(): Cells {
    return {
      rows: this.info.rows,
      numbers: (name) => this.numbers(name),
      words: (name) => this.words(name),
      places: (layout) => this.places(layout),
      known: this.known,
    };
  }

  private places(layout: string): Places {
    const places = this.layouts.get(layout);
    if (!places) throw new Error(`The layout ${layout} is not here.`);
    return places;
  }

  private numbers(name: string): ArrayLike<number> {
    const data = this.columns.now(name);
    if (!data) throw new Error(`The column “${name}” is not here.`);
    if (data.type === "number") return data.values;
    const known = this.prepared.get(name);
    if (known?.from === data) return known.numbers;
    const numbers = numbersOf(data);
    this.prepared.set(name, { from: data, numbers });
    return numbers;
  }

  private words(name: string): { codes: ArrayLike<number>; words: readonly string[] } {
    const data = this.columns.now(name);
    if (data?.type === "text") return data;
    if (data?.type === "bool") return { codes: data.values, words: ["no", "yes"] };
    return { codes: this.numbers(name), words: this.column(name)?.categories ?? [] };
  }
}
