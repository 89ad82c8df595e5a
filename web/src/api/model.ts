/** What the service tells, in the words of the schema. */

export type ColumnKind =
  "index" | "action" | "reward" | "value" | "decision" | "fact" | "event" | "objects" | "category" | "text";

export interface Column {
  name: string;
  type: "int" | "float" | "bool" | "text" | "objects";
  kind: ColumnKind;
  unit: string;
  label: string;
  description: string;
  categories: string[];
}

export interface ArraySpec {
  name: string;
  shape: number[];
  dtype: string;
  role: "observation" | "memory" | "probabilities" | "activation" | "attribution" | "image" | "other";
  axes: string[];
  elements: string[];
  domain: string;
  pixelated: boolean;
  unit: string;
  label: string;
  is_image: boolean;
}

export interface Damage {
  part: string;
  problem: string;
}

export interface RowKind {
  one: string;
  many: string;
}

export interface RecordingLine {
  name: string;
  rows: number;
  row: RowKind;
  groups: number;
  complete: boolean;
  subject: string | null;
  world: string | null;
  created_at: string;
  damage: Damage[];
}

export interface WorkspaceLine {
  name: string;
  title: string;
  lit: boolean;
  missing: string;
}

export interface StudyInfo {
  name: string;
  version: string;
  recordings: RecordingLine[];
  damage: Damage[];
  workspaces: WorkspaceLine[];
  live_subjects: string[];
}

export interface Ordering {
  group: string;
  time: string;
  seconds_per_step: number | null;
}

export interface SubjectInfo {
  name: string;
  family: string;
  parameters: number;
  memory: { name: string; shape: number[] }[];
}

export interface WorldInfo {
  name: string;
  family: string;
  actions: { kind: "discrete" | "continuous"; names: string[] };
  settings: Record<string, unknown>;
}

export interface RecordingInfo {
  name: string;
  rows: number;
  complete: boolean;
  row: RowKind;
  ordering: Ordering | null;
  columns: Column[];
  arrays: ArraySpec[];
  group_columns: Column[];
  groups: number;
  subject: SubjectInfo | null;
  world: WorldInfo | null;
  damage: Damage[];
  etag: string;
}

export interface Scene {
  walls: [number, number, number, number][];
  unit: string;
  objects: [string, number, number][];
}

/** One thing that was in view, as an `objects` column holds it. */
export interface ObjectInView {
  name: string;
  x_px: number;
  y_px: number;
  width_px: number;
  height_px: number;
  distance: number;
  x: number;
  y: number;
}

export interface DocsPage {
  slug: string;
  title: string;
  html: string;
}

export interface LensInfo {
  name: string;
  question: string;
  yields: string;
}

export interface Job {
  id: string;
  kind: string;
  title: string;
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  done: number;
  total: number | null;
  unit: string;
  message: string;
  error: string;
  eta_s: number | null;
}

export interface RecordRequest {
  kind: "record";
  recording: string;
  episodes: number;
  greedy: boolean;
}

/** A named set of rows kept in the study: ranges of rows, start included, stop not. */
export interface KeptSelection {
  name: string;
  recording: string;
  ranges: [number, number][];
  note: string;
}
