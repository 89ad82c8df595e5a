/** What a lens says about itself, turned into what a person can set: a new lens gets its controls from here. */
import type { JobOf, LensInfo, RecordingInfo } from "../../api/model";
import { recordedRunner, type Runner } from "./runner.svelte";

export type Parameter = NonNullable<LensInfo["parameters"]>[number];
export type Given = NonNullable<JobOf<"lens">["parameters"]>;

/** Why a lens cannot look at this recording, in the service's words; empty where it can. */
export function missing(lens: LensInfo | undefined, recording: RecordingInfo | undefined): string {
  return lens ? (recording?.capabilities.lacks[lens.name] ?? "") : "This server has no such lens.";
}

/** What an element of some memory array is called, also while another one is looked at. */
export function elementName(
  memory: { readonly array: string; label(element: number): string },
  array: string,
  element: number,
): string {
  if (!array || array === memory.array) return memory.label(element);
  return `${array.replace(/^memory\./, "")} ${element}`;
}

/** Values to choose from, of a recording and the subject that is run on it; null where anything can be typed. */
export function choicesOf(
  parameter: Parameter,
  recording: RecordingInfo,
  needs: readonly string[],
  runner: Runner | null = recordedRunner(recording),
): string[] | null {
  const orNothing = (names: string[]): string[] => (parameter.default === "" ? ["", ...names] : names);
  if (parameter.choices?.length) return [...parameter.choices];
  if (parameter.type === "column") return orNothing(recording.columns.map((column) => column.name));
  if (parameter.type === "layer") return orNothing(layersOf(runner, needs));
  if (parameter.type === "target") return runner?.targets.length ? [...runner.targets] : null;
  if (parameter.type === "head") return orNothing([...(runner?.heads ?? [])]);
  if (parameter.type !== "array") return null;
  const fits = recording.arrays.filter((array) => !needs.includes("memory") || array.role === "memory");
  return orNothing(fits.map((array) => array.name));
}

/** Layers that fit: a lens that needs a convolution asks for one with height and width. */
function layersOf(runner: Runner | null, needs: readonly string[]): string[] {
  const spatial = needs.includes("convolution") ? (runner?.convolutions ?? []) : [];
  return [...(spatial.length ? spatial : (runner?.layers ?? []))];
}

/** What a lens would be given if nobody set anything; an array is the one that is looked at. */
export function defaultsOf(
  lens: LensInfo,
  recording: RecordingInfo,
  array: string,
  runner: Runner | null = recordedRunner(recording),
): Given {
  const given: Given = {};
  for (const parameter of lens.parameters ?? []) {
    const choices = choicesOf(parameter, recording, lens.needs ?? [], runner);
    const here = parameter.type === "array" && choices?.includes(array) ? array : parameter.default;
    const known = choices === null || choices.includes(String(here));
    given[parameter.name] = known ? here : (choices?.[0] ?? here);
  }
  return given;
}

/** What was asked before, as far as the lens can still be asked so; results that it went by are chosen anew. */
export function fittingOf(lens: LensInfo, given: Given | undefined): Given {
  const fits = ([name, value]: [string, unknown]): boolean => {
    const parameter = lens.parameters?.find((other) => other.name === name);
    const choices = parameter?.choices ?? [];
    return parameter?.type !== "result" && (!choices.length || choices.includes(String(value)));
  };
  return Object.fromEntries(Object.entries(given ?? {}).filter(fits));
}

/** What a person typed, within the bounds of the parameter; what cannot be read is the default. */
export function read(parameter: Parameter, text: string): Given[string] {
  if (parameter.type !== "int" && parameter.type !== "float") return text;
  const value = text.trim() === "" ? NaN : Number(text.replace(",", "."));
  if (!Number.isFinite(value)) return parameter.default;
  const inside = Math.max(parameter.low ?? -Infinity, Math.min(parameter.high ?? Infinity, value));
  return parameter.type === "int" ? Math.round(inside) : inside;
}

export const titleOfParameter = (parameter: Parameter): string => parameter.name.replaceAll("_", " ");

/** A way to find out how much each pixel mattered: a lens, and for what. */
export interface Way {
  readonly key: string;
  readonly lens: string;
  readonly title: string;
  readonly parameters: Given;
}

/** Lenses that look at one row as somebody points at it, by what they are asked; one action over another would be a long list. */
export function saliencyWays(
  lenses: readonly LensInfo[],
  recording: RecordingInfo,
  runner: Runner | null = recordedRunner(recording),
): { lens: string; question: string; ways: Way[] }[] {
  const fit = lenses.filter((lens) => lens.over === "row" && lens.yields === "heat");
  return fit.map((lens) => {
    const target = lens.parameters?.find((parameter) => parameter.type === "target");
    const known = (target && choicesOf(target, recording, lens.needs ?? [], runner)) ?? [];
    const start = target && (known.includes(String(target.default)) ? String(target.default) : known[0]);
    const asked = target ? [start ?? String(target.default), ...known.filter((name) => name !== start)] : [""];
    const ways = asked
      .filter((name) => !name.includes(" over "))
      .map((name, first) => ({
        key: first === 0 ? lens.name : `${lens.name}:${name}`,
        lens: lens.name,
        title: name ? `${lens.name}: ${name === "action" ? "what it does" : name.replace(/^log /, "")}` : lens.name,
        parameters: name ? { [target!.name]: name } : {},
      }));
    return { lens: lens.name, question: lens.question, ways };
  });
}
