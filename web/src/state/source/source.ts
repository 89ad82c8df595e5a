/** What is looked at: a recording, and the subject whose outputs for its rows are shown. */
import { listPredictions, PredictedService } from "../../api/predictions";
import type { Column, Prediction, RecordingInfo, StudyInfo } from "../../api/model";
import type { Service } from "../../api/service";
import { decoded, key, type Key } from "../address/address.svelte";
import type { Group, Groups } from "../recording/groups";
import { OpenRecording } from "../recording/recording";
import type { Term } from "../selection/terms";

export interface Source {
  readonly recording: string;
  /** Empty: the one that was recorded. */
  readonly subject: string;
}

/** The second source: `recording;subject`, the subject left out where it is the recorded one. */
export const secondKey: Key<Source | null> = key<Source | null>("with", {
  otherwise: null,
  read: (told) => {
    const [recording = "", subject = ""] = decoded(told.split(";")) ?? [];
    return recording ? { recording, subject } : undefined;
  },
  write: (source) => (source ? textOf(source) : ""),
});

export const textOf = ({ recording, subject }: Source): string =>
  [recording, subject].filter(Boolean).map(encodeURIComponent).join(";");

/** A source that can stand beside the open recording. */
export interface Offer extends Source {
  readonly title: string;
  /** What there is to see of it. */
  readonly note: string;
}

/** Other subjects over the same rows, then other recordings of the same kind of rows. */
export function offersFor(
  open: RecordingInfo,
  study: StudyInfo,
  known: { predicted: readonly string[]; results: readonly string[] },
): Offer[] {
  const recorded = open.subject?.name;
  const subjects = new Set([...known.predicted, ...known.results, ...study.live_subjects]);
  const over = [...subjects].filter((subject) => subject && subject !== recorded);
  const note = (subject: string): string =>
    [
      ...(known.predicted.includes(subject) ? ["predictions"] : []),
      ...(known.results.includes(subject) ? ["results"] : []),
      ...(study.live_subjects.includes(subject) ? ["live"] : []),
    ].join(", ");
  const others = study.recordings.filter(
    (line) => line.name !== open.name && line.rows > 0 && line.capabilities.ordered === (open.ordering !== null),
  );
  return [
    ...over.map((subject) => ({ recording: open.name, subject, title: subject, note: note(subject) })),
    ...others.map((line) => ({ recording: line.name, subject: "", title: line.name, note: line.subject ?? "" })),
  ];
}

/** A recording as a source shows it; another subject's heads over the same rows come from predictions. */
export async function openSource(service: Service, { recording, subject }: Source): Promise<OpenRecording> {
  const open = await OpenRecording.open(service, recording);
  if (!subject || subject === open.info.subject?.name) return open;
  const all = await listPredictions(service.client, recording);
  const own = all.filter((each) => each.subject === subject && each.current && !each.edits.length);
  // What it said through filters stands in where it has said nothing of the pictures as they are.
  const found = own.findLast((each) => !each.filters) ?? own.at(-1);
  return withSubject(service, open, subject, found);
}

function withSubject(
  service: Service,
  open: OpenRecording,
  subject: string,
  prediction: Prediction | undefined,
): OpenRecording {
  const info = infoWith(open.info, subject, prediction);
  const own = prediction ? new PredictedService(service.client, open.info, prediction) : open.service;
  return new OpenRecording(info, open.groups, own, open.groupProblem);
}

/** The recording without what its own subject said, with what the other one predicts. */
export function infoWith(info: RecordingInfo, subject: string, prediction: Prediction | undefined): RecordingInfo {
  const said = (column: Column): boolean =>
    Boolean(column.derived) || column.kind === "value" || column.kind === "decision";
  const inside = new Set(["memory", "probabilities", "head", "activation", "attention"]);
  const predicted = (prediction?.columns ?? []).filter((column) => column.kind !== "index");
  const arrays = (prediction?.arrays ?? []).filter((array) => array.role !== "memory");
  return {
    ...info,
    capabilities: { ...info.capabilities, targets: prediction?.targets ?? [] },
    subject: info.subject && {
      ...info.subject,
      name: subject,
      identity: "",
      heads: prediction?.heads ?? [],
      ...(prediction ? {} : { memory: [] }),
    },
    columns: [...info.columns.filter((column) => !said(column)), ...predicted],
    arrays: [...info.arrays.filter((array) => !inside.has(array.role)), ...arrays],
  };
}

interface Names {
  readonly seeds: ReadonlyMap<number, Group>;
  readonly labels: ReadonlyMap<string, Group>;
}
const known = new WeakMap<Groups, Names>();

/** The same episode in another recording: the one with the same seed, else with the same label. */
export function twinOf(group: Group, others: Groups): Group | undefined {
  let names = known.get(others);
  if (!names) {
    const last = others.all.toReversed();
    const seeds = new Map(last.flatMap((each) => (each.seed == null ? [] : [[each.seed, each] as const])));
    names = { seeds, labels: new Map(last.map((each) => [each.label, each])) };
    known.set(others, names);
  }
  const bySeed = group.seed == null ? undefined : names.seeds.get(group.seed);
  // Where both tell seeds, another seed is another episode.
  const byLabel = names.labels.get(group.label);
  return bySeed ?? (group.seed != null && byLabel?.seed != null ? undefined : byLabel);
}

type Runs = readonly (readonly [number, number])[];

/** Rows of one recording as rows of another: the same steps of the same episodes. */
export function movedRows(runs: Runs, from: Groups, to: Groups): [number, number][] {
  return runs.flatMap(([start, stop]) =>
    from.all
      .filter((group) => group.start < stop && group.stop > start)
      .flatMap((group): [number, number][] => {
        const twin = twinOf(group, to);
        if (!twin) return [];
        const first = twin.start + Math.max(start, group.start) - group.start;
        const last = Math.min(twin.stop, twin.start + Math.min(stop, group.stop) - group.start);
        return first < last ? [[first, last]] : [];
      }),
  );
}

/** Terms of a selection for another recording: rows by their steps, conditions as they are. */
export function movedTerms(terms: readonly Term[], from: Groups, to: Groups): Term[] {
  return terms.map((term): Term => {
    const { source } = term;
    if (source.kind === "rows") return { ...term, source: { kind: "rows", runs: movedRows(source.runs, from, to) } };
    if (source.kind === "group")
      return { ...term, source: { kind: "group", terms: movedTerms(source.terms, from, to) } };
    // What lies where in a layout is known of the rows it was made of alone.
    return source.kind === "lasso" ? { ...term, source: { kind: "rows", runs: [] } } : term;
  });
}
