/** A grid of heat maps of one row: two things are compared, down and across; all others stay as they are. */
import type { Age, LensInfo, RecordingInfo } from "../../api/model";
import { count } from "../../state/format";
import { choicesOf, defaultsOf, missing, type Given } from "../../state/results/lenses";
import type { Runner } from "../../state/results/runner.svelte";

export const dimensions = ["method", "target", "layer", "frame", "input", "subject", "snapshot"] as const;
export type Dimension = (typeof dimensions)[number];
export const titleOfDimension: Readonly<Record<Dimension, string>> = {
  method: "Method",
  target: "Head or action",
  layer: "Layer",
  frame: "Frame",
  input: "Input",
  subject: "Subject",
  snapshot: "Snapshot",
};

/** A lens over single rows with its parameters. */
export interface Method {
  readonly key: string;
  readonly title: string;
  readonly lens: LensInfo;
  readonly parameters: Given;
}

/** Every lens that gives heat for a single row and fits the recording, and its variants, which have names of their own. */
export function methodsOf(lenses: readonly LensInfo[], recording: RecordingInfo, runner: Runner | null): Method[] {
  return lenses
    .filter((lens) => lens.over === "row" && lens.yields === "heat" && !missing(lens, recording))
    .flatMap((lens): Method[] => {
      const parameters = defaultsOf(lens, recording, "", runner);
      const variants = Object.entries(lens.variants ?? {});
      return [
        { key: lens.name, title: lens.name, lens, parameters },
        ...variants.map(([key, given]) => ({ key, title: key, lens, parameters: { ...parameters, ...given } })),
      ];
    });
}

/** What can be chosen of each dimension. */
export type Choices = Readonly<Record<Dimension, readonly string[]>>;

export function choicesFor(
  methods: readonly Method[],
  recording: RecordingInfo,
  runner: Runner | null,
  subjects: readonly string[],
  ages: readonly Age[] = [],
): Choices {
  const values = (type: string): string[] => [
    ...new Set(
      methods.flatMap(({ lens }) =>
        (lens.parameters ?? [])
          .filter((parameter) => parameter.type === type)
          .flatMap((parameter) => choicesOf(parameter, recording, lens.needs ?? [], runner) ?? []),
      ),
    ),
  ];
  return {
    method: methods.map(({ key }) => key),
    target: values("target"),
    layer: runner?.convolutions ?? [],
    frame: framesOf(recording, lagsOf(methods)),
    input: inputsOf(recording),
    subject: subjects,
    snapshot: ages.map(({ name }) => name),
  };
}

/** Frames of a stack, the newest first, and the steps that a method goes back to; none where there is just one. */
export function framesOf(recording: RecordingInfo, lags = 0): string[] {
  const count = Math.max(channelsOf(recording), lags ? lags + 1 : 0);
  return count < 2 ? [] : Array.from({ length: count }, (_, back) => (back ? `t−${back}` : "t"));
}

/** How many steps back the methods go that go back through the memory. */
export const lagsOf = (methods: readonly Method[]): number =>
  Math.max(0, ...methods.map(({ parameters }) => (typeof parameters.lags === "number" ? parameters.lags : 0)));

/** How many steps before this one a frame is of. */
export const lagOf = (frame: string): number => Number(frame.split("−")[1] ?? 0);

/** Inputs that there can be heat of, pictures first; none where there is just one. */
function inputsOf({ subject }: RecordingInfo): string[] {
  const inputs = (subject?.inputs ?? []).filter(({ kind }) => kind !== "tokens");
  const sorted = [...inputs.filter(({ kind }) => kind === "image"), ...inputs.filter(({ kind }) => kind !== "image")];
  return sorted.length < 2 ? [] : sorted.map(({ name }) => name);
}

/** How many grey frames the observation stacks; 0 where it is a picture in colour. */
function channelsOf(recording: RecordingInfo): number {
  const seen = recording.arrays.find((array) => array.role === "observation" && array.is_image);
  const channels = seen?.shape[2] ?? 1;
  const colours = seen?.elements.some((name) => name.toLowerCase() === "red") ?? false;
  return channels === 3 || colours ? 0 : channels;
}

/** The channel of a frame, as the stack has it: the newest is the last. */
export function channelOf(frame: string, recording: RecordingInfo): number | undefined {
  const frames = framesOf(recording); // of the stack alone
  const back = frames.indexOf(frame);
  return back < 0 ? undefined : frames.length - 1 - back;
}

export interface Cell {
  readonly key: string;
  readonly lens: string;
  /** Its name in the literature: a lens with guided weights has another one. */
  readonly method: string;
  readonly parameters: Given;
  readonly subject: string;
  readonly frame: string;
  /** "" for the first. */
  readonly input: string;
  /** Whether it goes back through the memory, so that its frames are earlier observations. */
  readonly unrolled: boolean;
  /** Why this cell says the same as others of its line: its method has no such parameter. */
  readonly note: string;
}

/** What is chosen of each dimension: the first holds where the dimension is not compared. */
export type Chosen = Readonly<Record<Dimension, readonly string[]>>;

export function cellAt(
  methods: readonly Method[],
  chosen: Chosen,
  at: Readonly<Partial<Record<Dimension, string>>>,
): Cell | null {
  const value = (dimension: Dimension): string => at[dimension] ?? chosen[dimension][0] ?? "";
  const method = methods.find(({ key }) => key === value("method"));
  if (!method) return null;
  const given: Record<string, Given[string]> = { ...method.parameters };
  const notes: string[] = [];
  for (const dimension of ["target", "layer"] as const) {
    const parameter = method.lens.parameters?.find(({ type }) => type === dimension);
    if (parameter && value(dimension)) given[parameter.name] = value(dimension);
    else if (!parameter && at[dimension] !== undefined) notes.push(dimension);
  }
  const [frame, input] = [value("frame"), value("input")];
  const subject = at.snapshot ?? value("subject");
  return {
    key: JSON.stringify([method.lens.name, given, subject, frame, input]),
    lens: method.lens.name,
    method: method.key,
    parameters: given,
    subject,
    frame,
    input,
    unrolled: "lags" in method.parameters,
    note: notes.length ? `${method.title} takes no ${notes.join(" and no ")}` : "",
  };
}

/** What was chosen, less what is not there; the usual where nothing is left. */
export function chosenOf(
  choices: Choices,
  asked: Readonly<Record<Dimension, readonly string[] | null>>,
  ages: readonly Age[] = [],
): Chosen {
  const usual: Record<Dimension, readonly string[]> = {
    method: preferred(choices.method, ["guided", "gradcam", "integrated-input", "gradient"], 3),
    target: preferred(choices.target, ["action", "value"], 2),
    layer: choices.layer.slice(0, 3),
    frame: choices.frame,
    input: choices.input,
    subject: choices.subject.slice(0, 4),
    snapshot: spread(longestRun(ages), 6),
  };
  const of = (dimension: Dimension): readonly string[] => {
    const known = (asked[dimension] ?? []).filter((name) => choices[dimension].includes(name));
    return known.length ? known : usual[dimension];
  };
  return {
    method: of("method"),
    target: of("target"),
    layer: of("layer"),
    frame: of("frame"),
    input: of("input"),
    subject: of("subject"),
    snapshot: of("snapshot"),
  };
}

/** The training run with the most snapshots. */
function longestRun(ages: readonly Age[]): string[] {
  const runs = new Map<string, string[]>();
  for (const { run, name } of ages) runs.set(run, [...(runs.get(run) ?? []), name]);
  return [...runs.values()].reduce((best, names) => (names.length > best.length ? names : best), []);
}

/** So many of a list, as far apart as can be, the first and the last among them. */
function spread(there: readonly string[], count: number): string[] {
  if (there.length <= count) return [...there];
  return Array.from({ length: count }, (_, i) => there[Math.round((i * (there.length - 1)) / (count - 1))]!);
}

/** What a snapshot is called above its column: its step, and its run where there are several. */
export function titleOfAge(name: string, ages: readonly Age[]): string {
  const age = ages.find((each) => each.name === name);
  if (!age) return name;
  const several = new Set(ages.map(({ run }) => run)).size > 1;
  return `${count(age.step)} steps${several ? `, ${age.run}` : ""}`;
}

/** Those of a list that are there, in that order; else the first of what is there. */
function preferred(there: readonly string[], wanted: readonly string[], count: number): string[] {
  const found = wanted.filter((name) => there.includes(name));
  return [...found, ...there.filter((name) => !found.includes(name))].slice(0, count);
}
