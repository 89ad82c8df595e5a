/** Subjects that were made from others by an edit of their weights: saved in the study. */
import type { Client } from "./client";
import type { components } from "./types";

type Schemas = components["schemas"];

/** One edit: what was projected out, of which layer, for the eyes of which layer after it. */
export type Edit = Schemas["EditLine"];
/** The edit that made it, and all of them, oldest first. */
export type Edited = Schemas["EditedReply"];
export type AblateRequest = Schemas["AblateRequest"];

export class EditedService {
  constructor(private readonly client: Client) {}

  async list(): Promise<Edited[]> {
    return (await this.client.json<Schemas["EditedList"]>("/api/edited")).edited;
  }

  ablate(body: AblateRequest): Promise<Edited> {
    return this.client.json("/api/edited", { method: "POST", body });
  }

  rename(name: string, wanted: string): Promise<Edited> {
    return this.client.json(`/api/edited/${encodeURIComponent(name)}`, { method: "PATCH", body: { name: wanted } });
  }

  /** Those that are left. */
  async drop(name: string): Promise<Edited[]> {
    const path = `/api/edited/${encodeURIComponent(name)}`;
    return (await this.client.json<Schemas["EditedList"]>(path, { method: "DELETE" })).edited;
  }

  /** Where the weights can be downloaded. */
  weights(name: string): string {
    return this.client.address(`/api/edited/${encodeURIComponent(name)}/weights`);
  }
}
