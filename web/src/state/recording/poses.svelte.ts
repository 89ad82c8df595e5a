/** Who predicted the pose of the open recording's rows, and how far off each prediction is. */
import { numbersOf } from "../../api/data/columns";
import type { Prediction } from "../../api/model";
import { listPredictions, predictedColumns } from "../../api/predictions";
import type { OpenRecording } from "./recording";
import type { Session } from "../session.svelte";

type PredictedPose = Prediction["poses"][number];

/** A pose head of one prediction. */
export interface Posed {
  /** Of the prediction and the head. */
  readonly key: string;
  readonly title: string;
  readonly prediction: Prediction;
  readonly pose: PredictedPose;
  /** Of the place and of its error. */
  readonly unit: string;
}

/** A number for each row of the recording; NaN where it is not known. */
export interface PoseValues {
  readonly of: string;
  readonly xs: ArrayLike<number>;
  readonly ys: ArrayLike<number>;
  readonly position: ArrayLike<number>;
  /** Null where headings cannot be compared. */
  readonly heading: ArrayLike<number> | null;
}

export class Poses {
  /** Newest last. */
  all = $state.raw<readonly Posed[]>([]);

  constructor(private readonly session: Session) {}

  attach({ info }: OpenRecording): void {
    this.all = [];
    const { client } = this.session.service;
    const load = listPredictions(client, info.name).then((found) => {
      if (this.session.recording?.info.name === info.name) this.all = posesOf(found);
    });
    void this.session.quietly(load);
  }

  async values({ prediction, pose, key }: Posed): Promise<PoseValues> {
    const recording = this.session.recording?.info.name ?? "";
    const names = [pose.predicted_x, pose.predicted_y, pose.position_error, pose.heading_error].filter(Boolean);
    const found = await predictedColumns(this.session.service.client, recording, prediction.id, names);
    const numbers = (name: string): ArrayLike<number> => numbersOf(found.get(name)!);
    return {
      of: key,
      xs: numbers(pose.predicted_x),
      ys: numbers(pose.predicted_y),
      position: numbers(pose.position_error),
      heading: pose.heading_error ? numbers(pose.heading_error) : null,
    };
  }
}

/** Every pose head, named so that no two have the same title. */
export function posesOf(predictions: readonly Prediction[]): Posed[] {
  const found = predictions.flatMap((prediction) => prediction.poses.map((pose) => ({ prediction, pose })));
  return found.map(({ prediction, pose }) => {
    const { subject, binding, current } = prediction;
    const same = found.filter((other) => other.prediction.subject === subject);
    const heads = new Set(same.map((other) => other.pose.head)).size > 1 ? [pose.head] : [];
    const bindings = new Set(same.map((other) => other.prediction.binding)).size > 1 ? [binding] : [];
    const stale = current ? [] : ["of an older version"];
    const unit = prediction.columns.find((column) => column.name === pose.position_error)?.unit ?? "";
    const title = [subject, ...heads, ...bindings, ...stale].join(" · ");
    return { key: `${prediction.id}.${pose.head}`, title, prediction, pose, unit };
  });
}

/** The value that a share of all known values does not exceed, and how many are known. */
export function quantile(values: ArrayLike<number>, share: number, within?: (row: number) => boolean): number {
  const known = Array.from(values).filter((value, row) => Number.isFinite(value) && (!within || within(row)));
  if (!known.length) return NaN;
  known.sort((a, b) => a - b);
  const at = share * (known.length - 1);
  const [low, high] = [known[Math.floor(at)]!, known[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}
