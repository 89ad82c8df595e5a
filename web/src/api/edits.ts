/** Changes to the memory: kept in the study, run again, measured. */
import type { Client } from "./client";
import type { Job } from "./model";

export type EditMode = "zero" | "freeze" | "set";

/** A change to elements of one memory site, made at each step from `start` on. */
export interface MemoryEdit {
  readonly elements: readonly number[];
  readonly mode: EditMode;
  readonly value: number;
  /** Empty for the only site. */
  readonly site: string;
  readonly start: number;
  readonly stop: number | null;
}

/** Edits that belong together, under a name. */
export interface Reduction {
  readonly name: string;
  readonly edits: readonly MemoryEdit[];
  /** How the elements were chosen, in words. */
  readonly note: string;
}

/** Work on edits that runs long: what each kind takes is told by the service when something is wrong. */
export type EditJob = "rerun" | "table" | "sweep" | "minimal";

export class EditService {
  constructor(private readonly client: Client) {}

  list(): Promise<Reduction[]> {
    return this.client.json("/api/reductions");
  }

  keep(reduction: Reduction): Promise<Reduction[]> {
    return this.client.json("/api/reductions", { method: "PUT", body: reduction });
  }

  drop(name: string): Promise<Reduction[]> {
    return this.client.json(`/api/reductions/${encodeURIComponent(name)}`, { method: "DELETE" });
  }

  start(kind: EditJob, body: Readonly<Record<string, unknown>>): Promise<Job> {
    return this.client.json("/api/jobs", { method: "POST", body: { kind, ...body } });
  }
}
