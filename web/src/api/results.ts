/** What lenses found and the study keeps: a value in words and numbers, and arrays beside it. */
import type { Client } from "./client";
import { slice, type ArraySlice, type Range } from "./service";

/** A result in the list: everything but what was found. */
export interface ResultLine {
  readonly id: string;
  /** The lens, or the kind of table, that made it. */
  readonly kind: string;
  readonly title: string;
  readonly recording: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  /** Which generic view shows it; "" for none. */
  readonly type: string;
  readonly arrays: Readonly<Record<string, { readonly shape: readonly number[]; readonly dtype: string }>>;
  /** A state on the way: the work goes on, or was stopped there. */
  readonly provisional?: boolean;
}

export interface Result extends ResultLine {
  readonly value: unknown;
  /** What the generic view of its type needs beside the arrays. */
  readonly shown: Readonly<Record<string, unknown>>;
}

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
}
