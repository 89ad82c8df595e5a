/** Changes to the memory: kept in the study, run again, measured. */
import type { Client } from "./client";
import type { Job } from "./model";
import type { components } from "./types";

export type SiteEdit = components["schemas"]["SiteEdit"];
export type Edit = SiteEdit | components["schemas"]["WeightEdit"] | components["schemas"]["InputEdit"];
/** Edits that belong together, under a name. */
export type EditSet = components["schemas"]["EditSet"];
/** What the editor of the memory offers. */
export type MemoryOperation = Extract<SiteEdit["op"], "zero" | "freeze" | "set">;

/** Work on edits that runs long: what each kind takes is told by the service when something is wrong. */
export type EditJob = "rerun" | "table" | "sweep" | "minimal";

export class EditService {
  constructor(private readonly client: Client) {}

  list(): Promise<EditSet[]> {
    return this.client.json("/api/reductions");
  }

  keep(reduction: EditSet): Promise<EditSet[]> {
    return this.client.json("/api/reductions", { method: "PUT", body: reduction });
  }

  drop(name: string): Promise<EditSet[]> {
    return this.client.json(`/api/reductions/${encodeURIComponent(name)}`, { method: "DELETE" });
  }

  start(kind: EditJob, body: Readonly<Record<string, unknown>>): Promise<Job> {
    return this.client.json("/api/jobs", { method: "POST", body: { kind, ...body } });
  }
}
