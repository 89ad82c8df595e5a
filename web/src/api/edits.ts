/** Changes to the memory that the study keeps. */
import type { Client } from "./client";
import type { components } from "./types";

export type SiteEdit = components["schemas"]["SiteEdit"];
export type Edit = SiteEdit | components["schemas"]["WeightEdit"] | components["schemas"]["InputEdit"];
/** Edits that belong together, under a name. */
export type EditSet = components["schemas"]["EditSet"];
/** What the editor of the memory offers. */
export type MemoryOperation = Extract<SiteEdit["op"], "zero" | "freeze" | "set">;

export class EditService {
  constructor(private readonly client: Client) {}

  list(): Promise<EditSet[]> {
    return this.client.json("/api/reductions");
  }

  save(reduction: EditSet): Promise<EditSet[]> {
    return this.client.json("/api/reductions", { method: "PUT", body: reduction });
  }

  /** Where all of them can be downloaded as a file. */
  file(): string {
    return this.client.address("/api/reductions/file");
  }

  drop(name: string): Promise<EditSet[]> {
    return this.client.json(`/api/reductions/${encodeURIComponent(name)}`, { method: "DELETE" });
  }
}
