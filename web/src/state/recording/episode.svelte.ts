/** What is known of the group under the cursor: its columns, probabilities and scene, and what could not be read. */
import type { ColumnData } from "../../api/data/columns";
import type { Hole } from "../../api/data/columnstore";
import { isAbort, messageOf } from "../../api/errors";
import type { ArraySpec, Scene } from "../../api/model";
import type { Group } from "./groups";
import type { OpenRecording } from "./recording";

export interface Shares {
  readonly kinds: number;
  readonly names: readonly string[];
  readonly values: ArrayLike<number>;
}

/** What the probabilities of a step are of, one after another. */
export function actionNames({ shape, elements }: ArraySpec): readonly string[] {
  const kinds = shape.at(-1) ?? 1;
  return elements.length === kinds ? elements : Array.from({ length: kinds }, (_, i) => `action ${i}`);
}

export class Episode {
  group = $state.raw<Group | null>(null);
  columns = $state.raw<ReadonlyMap<string, ColumnData>>(new Map());
  holes = $state.raw<readonly Hole[]>([]);
  shares = $state.raw<Shares | null>(null);
  /** A short vector that the subject saw, element by element over the steps. */
  vector = $state.raw<Shares | null>(null);
  scene = $state.raw<Scene | null>(null);
  busy = $state(false);
  problem = $state("");
  derivedProblem = $state("");
  sharesProblem = $state("");
  sceneProblem = $state("");

  /** Every kind of thing that is on the map or comes into view. */
  objectNames = $derived.by((): readonly string[] => {
    const names = new Set((this.scene?.objects ?? []).map(([name]) => name));
    const data = this.columns.get("objects");
    if (data?.type === "objects") for (const list of data.values) for (const thing of list) names.add(thing.name);
    return [...names].sort();
  });

  private stop = new AbortController();
  private recording: OpenRecording | null = null;
  /** Columns made of others: fetched for this and the next groups once somebody asked for them. */
  private wanted: ReadonlySet<string> = new Set();

  /** Have derived columns here, too; those that are here stay. */
  need(names: readonly string[]): void {
    this.wanted = new Set(names);
    const [recording, group] = [this.recording, this.group];
    if (recording && group) void this.loadDerived(recording, group, this.stop.signal);
  }

  async load(recording: OpenRecording, group: Group): Promise<void> {
    this.stop.abort();
    const { signal } = (this.stop = new AbortController());
    this.recording = recording;
    this.busy = true;
    this.problem = this.sharesProblem = this.sceneProblem = "";
    if (group.scene !== this.group?.scene) this.scene = null;
    await Promise.all([
      this.loadColumns(recording, group, signal),
      this.loadShares(recording, group, signal),
      this.loadVector(recording, group, signal),
      this.loadScene(recording, group, signal),
    ]);
    if (!signal.aborted) this.busy = false;
  }

  private async loadColumns(recording: OpenRecording, group: Group, signal: AbortSignal): Promise<void> {
    const names = recording.info.columns.filter((column) => !column.derived).map((column) => column.name);
    try {
      const loaded = await recording.columns.slice(names, group, signal);
      if (signal.aborted) return;
      this.columns = loaded.columns;
      this.holes = loaded.holes;
      this.group = group;
      await this.loadDerived(recording, group, signal);
    } catch (problem) {
      if (signal.aborted || isAbort(problem)) return;
      this.problem = messageOf(problem);
      this.columns = new Map();
      this.holes = [];
      this.group = group;
    }
  }

  /** They come after the recorded ones, so that what was recorded is never kept waiting. */
  private async loadDerived(recording: OpenRecording, group: Group, signal: AbortSignal): Promise<void> {
    const missing = recording.info.columns.filter(
      ({ name, derived }) => derived && this.wanted.has(name) && !this.columns.has(name),
    );
    if (!missing.length) return;
    this.derivedProblem = "";
    try {
      const names = missing.map((column) => column.name);
      const { columns } = await recording.columns.slice(names, group, signal);
      if (!signal.aborted && this.group === group) this.columns = new Map([...this.columns, ...columns]);
    } catch (problem) {
      if (!signal.aborted && !isAbort(problem)) this.derivedProblem = messageOf(problem);
    }
  }

  private async loadShares(recording: OpenRecording, group: Group, signal: AbortSignal): Promise<void> {
    const spec = recording.probabilities;
    if (!spec) {
      this.shares = null;
      return;
    }
    try {
      const { values } = await recording.service.array(spec.name, group, signal);
      const names = actionNames(spec);
      if (!signal.aborted) this.shares = { kinds: names.length, names, values };
    } catch (problem) {
      if (signal.aborted || isAbort(problem)) return;
      this.shares = null;
      this.sharesProblem = messageOf(problem);
    }
  }

  private async loadVector(recording: OpenRecording, group: Group, signal: AbortSignal): Promise<void> {
    const spec = recording.observation;
    const kinds = spec?.shape[0] ?? 0;
    if (!spec || spec.shape.length !== 1 || kinds > 16) {
      this.vector = null;
      return;
    }
    try {
      const { values } = await recording.service.array(spec.name, group, signal);
      const names = Array.from({ length: kinds }, (_, i) => spec.elements[i] ?? `${spec.label || spec.name} ${i}`);
      if (!signal.aborted) this.vector = { kinds, names, values };
    } catch (problem) {
      if (signal.aborted || isAbort(problem)) return;
      this.vector = null; // the observation view says why
    }
  }

  private async loadScene(recording: OpenRecording, group: Group, signal: AbortSignal): Promise<void> {
    if (!group.scene || (this.scene && this.group?.scene === group.scene)) return;
    try {
      const scene = await recording.service.scene(group.scene, signal);
      if (!signal.aborted) this.scene = scene;
    } catch (problem) {
      if (!signal.aborted && !isAbort(problem)) this.sceneProblem = messageOf(problem);
    }
  }
}
