/** What lenses found and the study keeps: a value in words and numbers, and arrays beside it. */
import type { Client } from "./client";
import { slice, type ArraySlice, type Range } from "./service";
import type { components } from "./types";

type Schemas = components["schemas"];

/** A result in the list: everything but what was found. */
export type ResultLine = Schemas["ResultSummary"];
export type Result = Schemas["ResultReply"];

export class ResultService {
  constructor(private readonly client: Client) {}

  list(recording: string): Promise<ResultLine[]> {
    return this.client.json(`/api/results?${new URLSearchParams({ recording })}`);
  }

  /** Of one kind, in all recordings of the study. */
  everywhere(kind: string): Promise<ResultLine[]> {
    return this.client.json(`/api/results?${new URLSearchParams({ kind })}`);
  }

  get(id: string): Promise<Result> {
    return this.client.json(`/api/results/${encodeURIComponent(id)}`);
  }

  /** An array, or a part of its first axis. */
  async array(id: string, name: string, part?: Range): Promise<ArraySlice> {
    const query = part ? `?start=${part.start}&stop=${part.stop}` : "";
    const path = `/api/results/${encodeURIComponent(id)}/arrays/${encodeURIComponent(name)}${query}`;
    return slice(await this.client.bytes(path));
  }

  /** An array in few bytes: exact to 1/65534 of its largest number. */
  async small(id: string, name: string): Promise<ArraySlice> {
    const path = `/api/results/${encodeURIComponent(id)}/arrays/${encodeURIComponent(name)}?small=true`;
    const reply = await this.client.bytes(path);
    const { shape, values } = slice(reply);
    const step = Number(reply.headers.get("x-innerview-step") ?? "1");
    return { shape, dtype: "float32", values: Float32Array.from(values, (value) => value * step) };
  }
}
