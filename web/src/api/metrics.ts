/** Metrics that people make of columns, the thresholds of the others, and averages around an event. */
import type { Client } from "./client";
import type { components } from "./types";

type Schemas = components["schemas"];
export type OwnMetric = Schemas["OwnReply"];
export type ThresholdInfo = Schemas["ThresholdReply"];
export type FunctionInfo = Schemas["FunctionReply"];
export type MetricsInfo = Schemas["MetricsReply"];
export type Checked = Schemas["CheckReply"];

export interface MetricDraft {
  readonly name: string;
  readonly expression: string;
  readonly unit: string;
  /** The name it had before, where it is renamed. */
  readonly replaces?: string;
}

export interface AlignAsk {
  readonly column?: string;
  readonly rows?: readonly number[];
  readonly before: number;
  readonly after: number;
  readonly array?: string;
  readonly metrics: readonly string[];
}

export interface Spread {
  readonly mean: readonly (number | null)[];
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

export interface Aligned {
  /** How many times it happened, and how many of them were averaged. */
  readonly total: number;
  readonly used: number;
  readonly paired: number;
  /** The first offset that counts as after. */
  readonly first_after: number;
  readonly rows: readonly number[];
  readonly offsets: readonly number[];
  readonly counts: readonly number[];
  readonly elements: number;
  readonly before: readonly number[];
  readonly after: readonly number[];
  readonly effect: readonly number[];
  readonly metrics: Readonly<Record<string, Spread>>;
  /** Means, [offsets, elements]. */
  readonly memory: Float32Array;
}

export class MetricsApi {
  constructor(private readonly client: Client) {}

  all(recording: string): Promise<MetricsInfo> {
    return this.client.json(`/api/metrics?recording=${encodeURIComponent(recording)}`);
  }

  save(recording: string, draft: MetricDraft): Promise<OwnMetric> {
    return this.client.json("/api/metrics", { method: "PUT", body: { ...draft, recording } });
  }

  drop(name: string): Promise<unknown> {
    return this.client.json(`/api/metrics?name=${encodeURIComponent(name)}`, { method: "DELETE" });
  }

  check(recording: string, expression: string): Promise<Checked> {
    return this.client.json("/api/metrics/check", { method: "POST", body: { recording, expression } });
  }

  setThreshold(name: string, value: number | null): Promise<unknown> {
    return this.client.json("/api/metrics/thresholds", { method: "PUT", body: { thresholds: { [name]: value } } });
  }

  async align(recording: string, ask: AlignAsk, signal?: AbortSignal): Promise<Aligned> {
    const path = `/api/recordings/${encodeURIComponent(recording)}/aligned`;
    const { buffer } = await this.client.bytes(path, signal, { method: "POST", body: ask });
    const length = new DataView(buffer).getUint32(0, true);
    const told = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as Omit<Aligned, "memory">;
    return { ...told, memory: new Float32Array(buffer, 4 + length) };
  }
}
