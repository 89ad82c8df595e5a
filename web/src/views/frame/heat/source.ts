/** Raw heat of one row: looked at live, or read from a result. */
import type { LiveReply } from "../../../api/live";
import type { RecordingInfo } from "../../../api/model";
import type { Given } from "../../../state/results/lenses";
import type { Session } from "../../../state/session.svelte";
import type { HeatShape } from "../../../marks/heat";

export interface RawHeat extends HeatShape {
  /** [channel, height, width]. */
  readonly values: Float32Array;
}

/** What a lens says of its heat beside the values. */
export interface HeatWords {
  readonly inputs: readonly string[];
  /** Of which array of the recording each input was made. */
  readonly arrays: Readonly<Record<string, string>>;
  readonly unit: string;
  readonly signed: boolean;
  /** The largest size of any value, by input. */
  readonly largest: Readonly<Record<string, number>>;
  /** Of which observations it is, where of several: as many equal parts of the channels. */
  readonly steps: readonly string[];
  /** Inputs that are vectors: a bar per feature. */
  readonly vectors: readonly string[];
  /** The colour of what is above zero. */
  readonly positive: "orange" | "blue";
}

export function readWords(shown: unknown): HeatWords {
  const given = (shown ?? {}) as Partial<HeatWords>;
  return {
    inputs: given.inputs ?? [],
    arrays: given.arrays ?? {},
    unit: given.unit ?? "",
    signed: given.signed ?? true,
    largest: given.largest ?? {},
    steps: given.steps ?? [],
    vectors: given.vectors ?? [],
    positive: given.positive ?? "orange",
  };
}

/** The channels of one of several steps. */
export function partOf(heat: RawHeat, step: number, steps: number): RawHeat {
  const channels = heat.channels / steps;
  const size = channels * heat.height * heat.width;
  return { ...heat, channels, values: heat.values.subarray(step * size, (step + 1) * size) };
}

/** What the features of a vector are called, by the array that fed it. */
export function featuresOf(recording: RecordingInfo | undefined, array: string, count: number): string[] {
  const elements = recording?.arrays.find(({ name }) => name === array)?.elements ?? [];
  return Array.from({ length: count }, (_, i) => (elements.length === count ? elements[i]! : `${array} ${i}`));
}

/** Ask a lens about one row; a newer call of the same source on the channel takes its place. */
export function lookLive(
  session: Session,
  channel: string,
  {
    subject = session.source?.subject,
    ...asked
  }: {
    lens: string;
    row: number;
    parameters: Given;
    input?: string;
    /** Which array feeds which input. */
    inputs?: Record<string, string>;
    /** A live subject by name; the one that is shown unless said. */
    subject?: string | undefined;
  },
): Promise<LiveReply> {
  const recording = session.recording?.info.name ?? "";
  return session.page.live.call(`${channel} ${session.letter}`, "lens", {
    recording,
    ...(subject && { subject, other: true }),
    ...asked,
  });
}

/** The heat in a reply of the live channel; null where it holds none. */
export function heatOf({ binary }: LiveReply): RawHeat | null {
  const [channels = 0, height = 0, width = 0] = binary?.shape ?? [];
  if (!binary || !height || !width) return null;
  return { channels, height, width, values: new Float32Array(binary.bytes) };
}
