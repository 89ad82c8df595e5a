/** A grid of heat maps of one row: two things are compared, down and across; all others stay as they are. */
import type { JobOf, LensInfo, RecordingInfo } from "../../api/model";
import { choicesOf, defaultsOf, missing, type Given } from "../../state/results/lenses";
import type { Runner } from "../../state/results/runner.svelte";

type VideoMap = JobOf<"video">["maps"][number];

export const dimensions = ["method", "target", "layer", "frame", "subject"] as const;
export type Dimension = (typeof dimensions)[number];
export const titleOfDimension: Readonly<Record<Dimension, string>> = {
  method: "Method",
  target: "Head or action",
  layer: "Layer",
  frame: "Frame",
  subject: "Subject",
};

/** A lens over single rows with its parameters. */
export interface Method {
  readonly key: string;
  readonly title: string;
  readonly lens: LensInfo;
  readonly parameters: Given;
}

/** Methods that are another one with guided weights, by their names in the literature. */
const guidedNames: Readonly<Record<string, string>> = { gradcam: "g1gradcam", "guided-gradcam": "g2gradcam" };

/** Every lens that gives heat for a single row and fits the recording. */
export function methodsOf(lenses: readonly LensInfo[], recording: RecordingInfo, runner: Runner | null): Method[] {
  return lenses
    .filter((lens) => lens.over === "row" && lens.yields === "heat" && !missing(lens, recording))
    .flatMap((lens): Method[] => {
      const plain = { key: lens.name, title: lens.name, lens, parameters: defaultsOf(lens, recording, "", runner) };
      const guided = guidedNames[lens.name];
      const takes = lens.parameters?.some(({ name }) => name === "gradients");
      if (!guided || !takes) return [plain];
      return [
        plain,
        { ...plain, key: guided, title: guided, parameters: { ...plain.parameters, gradients: "guided" } },
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
    frame: framesOf(recording),
    subject: subjects,
  };
}

/** Frames of a stack, the newest first; none where the picture is no stack. */
export function framesOf(recording: RecordingInfo): string[] {
  const channels = channelsOf(recording);
  return channels < 2 ? [] : Array.from({ length: channels }, (_, back) => (back ? `t−${back}` : "t"));
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
  const frames = framesOf(recording);
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
  /** Why this cell says the same as others of its line: its method has no such parameter. */
  readonly note: string;
}

/** A cell as a map of a video: frames are counted back from the newest, and without frames all of them count. */
export function videoMapOf({ method, parameters, subject, frame }: Cell): VideoMap {
  const back = frame === "" ? -1 : frame === "t" ? 0 : Number(frame.replace(/^t−/, ""));
  return { method, parameters, frame: back, result: "", ...(subject && { subject }) };
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
  const [subject, frame] = [value("subject"), value("frame")];
  return {
    key: JSON.stringify([method.lens.name, given, subject, frame]),
    lens: method.lens.name,
    method: method.key,
    parameters: given,
    subject,
    frame,
    note: notes.length ? `${method.title} takes no ${notes.join(" and no ")}` : "",
  };
}

/** What was chosen, less what is not there; the usual where nothing is left. */
export function chosenOf(choices: Choices, asked: Readonly<Record<Dimension, readonly string[] | null>>): Chosen {
  const usual: Record<Dimension, readonly string[]> = {
    method: preferred(choices.method, ["guided", "gradcam", "integrated-input", "gradient"], 3),
    target: preferred(choices.target, ["action", "value"], 2),
    layer: choices.layer.slice(0, 3),
    frame: choices.frame,
    subject: choices.subject.slice(0, 4),
  };
  const of = (dimension: Dimension): readonly string[] => {
    const known = (asked[dimension] ?? []).filter((name) => choices[dimension].includes(name));
    return known.length ? known : usual[dimension];
  };
  return { method: of("method"), target: of("target"), layer: of("layer"), frame: of("frame"), subject: of("subject") };
}

/** Those of a list that are there, in that order; else the first of what is there. */
function preferred(there: readonly string[], wanted: readonly string[], count: number): string[] {
  const found = wanted.filter((name) => there.includes(name));
  return [...found, ...there.filter((name) => !found.includes(name))].slice(0, count);
}
