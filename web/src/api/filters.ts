/** Filters of recorded pictures: what there are, and those that the study keeps. */
import type { Client } from "./client";
import type { components } from "./types";

export type PictureFilter = components["schemas"]["PictureFilter"];
export type SavedFilter = components["schemas"]["SavedFilter"];
export type Filters = components["schemas"]["FiltersReply"];

export const listFilters = (client: Client): Promise<Filters> => client.json("/api/filters");

export const saveFilter = (client: Client, made: SavedFilter): Promise<Filters> =>
  client.json("/api/filters", { method: "PUT", body: made });
