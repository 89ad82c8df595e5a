/** Metrics that people make of columns, the thresholds of the others, and averages around an event. */
import type { Client } from "./client";
import type { components } from "./types";

type Schemas = components["schemas"];
export type OwnMetric = Schemas["OwnReply"];
export type ThresholdInfo = Schemas["ThresholdReply"];
export type FunctionInfo = Schemas["FunctionReply"];
export type MetricsInfo = Schemas["MetricsReply"];
export type Checked = Schemas["CheckReply"];

/** A metric to keep; `replaces` is the name it had before, where it is renamed. */
export type MetricDraft = Pick<Schemas["MetricBody"], "name" | "expression" | "unit"> &
  Partial<Pick<Schemas["MetricBody"], "replaces">>;
export type AlignAsk = Schemas["AlignRequest"];
export type Spread = Schemas["SpreadReply"];
type PerElement = "before" | "after" | "effect";
/** Averages around an event, with the means of each element, [offsets, elements]; NaN where nothing is known. */
export type Aligned = Omit<Schemas["AlignedReply"], PerElement> &
  Readonly<Record<PerElement, readonly number[]>> & { readonly memory: Float32Array };

const known = (values: readonly (number | null)[]): number[] => values.map((value) => value ?? NaN);

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
    const reply = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as Schemas["AlignedReply"];
    return {
      ...reply,
      before: known(reply.before),
      after: known(reply.after),
      effect: known(reply.effect),
      memory: new Float32Array(buffer, 4 + length),
    };
  }
}
