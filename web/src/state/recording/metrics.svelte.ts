/** Metrics that people made and thresholds they set; the study keeps both. */
import type { FunctionInfo, MetricDraft, MetricsApi, OwnMetric, ThresholdInfo } from "../../api/metrics";

export class Metrics {
  own = $state.raw<readonly OwnMetric[]>([]);
  thresholds = $state.raw<readonly ThresholdInfo[]>([]);
  functions = $state.raw<readonly FunctionInfo[]>([]);
  private recording = "";

  /** `changed` is told when columns may have other values, or be others. */
  constructor(
    readonly api: MetricsApi,
    private readonly changed: () => Promise<void>,
  ) {}

  async load(recording: string): Promise<void> {
    this.recording = recording;
    const found = await this.api.all(recording);
    if (this.recording !== recording) return;
    this.own = found.own;
    this.thresholds = found.thresholds;
    this.functions = found.functions;
  }

  async save(draft: MetricDraft): Promise<void> {
    await this.api.save(this.recording, draft);
    await this.changed();
  }

  async drop(name: string): Promise<void> {
    await this.api.drop(name);
    await this.changed();
  }

  /** Null goes back to what is usual. */
  async setThreshold(name: string, value: number | null): Promise<void> {
    await this.api.setThreshold(name, value);
    await this.changed();
  }
}
