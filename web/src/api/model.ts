/** What the service tells: names for the types that are generated from its OpenAPI document (`npm run types`). */
import jobs from "./jobs.json";
import type { components } from "./types";

type Schemas = components["schemas"];

export type Column = Schemas["Column"];
/** Names of the columns that say where the agent is and where it looks; empty where none does. */
export type Pose = Schemas["Pose"];
export type ColumnKind = Column["kind"];
export type ArraySpec = Schemas["ArrayReply"];
export type Damage = Schemas["DamageReply"];
export type RowKind = Schemas["RowKind"];
export type RecordingLine = Schemas["RecordingSummary"];
export type Capabilities = Schemas["Capabilities"];
export type LiveSubject = Schemas["SubjectReply"];
/** A subject by name, and where in which training it stands. */
export type Age = Schemas["AgeReply"];
export type StudyInfo = Schemas["StudyReply"];
export type RecordingInfo = Schemas["RecordingReply"];
export type Prediction = Schemas["PredictionReply"];
export type Scene = Schemas["SceneReply"];
export type DocsPage = Schemas["DocReply"];
/** The first steps at which two runs differ; null where they never do. */
export type FirstDifference = Schemas["FirstDifference"];
export type LensInfo = Schemas["Lens"];
export type Job = Schemas["JobReply"];
/** What can be started, told apart by its kind. */
export type JobRequest = Schemas["JobRequest"];
/** What one kind of job takes. */
export type JobOf<Kind extends JobRequest["kind"]> = Extract<JobRequest, { kind: Kind }>;
/** What forms begin with, and their bounds, as the service knows them (written by `scripts/openapi`). */
export const jobNumbers = jobs;
/** A named selection kept in the study; the expression is our own text. */
export type SavedSelection = Schemas["SavedSelection"];

/** One thing that was in view, as an `objects` column holds it; unknown numbers are NaN. */
export type ObjectInView = Schemas["ObjectInView"];
/** What the service sends over the live connection. */
export type LiveMessage = Schemas["LiveAnswer"] | Schemas["LiveStale"] | Schemas["LiveFailure"] | Schemas["JobNews"];
/** What a call gave. */
export type LiveAnswer = Schemas["LiveAnswer"];
export type LiveRequest = Schemas["LiveRequest"];
/** A recorded row looked at through a lens. */
export type LensCall = Schemas["LensCall"];
export type ForwardCall = Schemas["ForwardCall"];

/** The elements of a memory in an order; a score is null where it is infinite. */
export type OrderReply = Schemas["OrderReply"];
export type OrderBy = OrderReply["by"];

/** What an order of a memory's elements is asked with; it stays the same when another episode is shown. */
export interface OrderAsk {
  readonly by: OrderBy;
  /** The recording whose rows it looks at. */
  readonly recording: string;
  readonly array: string;
  readonly start: number;
  readonly stop: number;
  /** The chosen interval, for orders that compare with it. */
  readonly from?: number;
  readonly to?: number;
  /** The column to correlate with. */
  readonly column?: string;
}
