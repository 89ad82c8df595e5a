/** Heat over the pictures of a row, domain by domain, by a live subject that saw them. */
import { messageOf } from "../../api/errors";
import { Stale } from "../../api/live";
import type { ArraySpec } from "../../api/model";
import { reachOf, strongest } from "../../marks/heat";
import type { Posed, PoseModel } from "../../state/recording/posed";
import { number } from "../../state/format";
import { saliencyWays, type Way } from "../../state/results/lenses";
import type { Session } from "../../state/session.svelte";
import { heatOf, lookLive, readWords, type RawHeat } from "../frame/heat/source";

export interface DrawnHeat {
  /** One value a pixel. */
  readonly values: Float32Array;
  readonly width: number;
  readonly height: number;
  /** What full colour stands for: the largest of all domains. */
  readonly reach: number;
  readonly signed: boolean;
  readonly unit: string;
  /** What is above zero, where the sign means something. */
  readonly positive: "orange" | "blue";
}

interface Found extends Pick<DrawnHeat, "signed" | "unit" | "positive"> {
  readonly heat: RawHeat;
  readonly side: Posed;
}

/** Where the channels of an array lie in the input that it feeds, with others joined to it; null where it feeds none. */
export function channelsOf(inputs: Readonly<Record<string, string>>, arrays: readonly ArraySpec[], array: string) {
  for (const [input, text] of Object.entries(inputs)) {
    let first = 0;
    const parts = text.split(/\s\+\s/).map((part) => {
      const name = part.split("|")[0]!.trim();
      const count = arrays.find((spec) => spec.name === name)?.shape[2] ?? 1;
      const place = { name, first, count };
      first += count;
      return place;
    });
    const found = parts.find(({ name }) => name === array);
    if (found) return { input, first: found.first, count: found.count, all: first };
  }
  return null;
}

/** To be made where a component is. */
export class Heats {
  words = $state("");
  private found = $state.raw<ReadonlyMap<string, Found>>(new Map());

  constructor(
    private readonly session: Session,
    private readonly model: () => PoseModel | undefined,
    private readonly asked: () => string,
  ) {
    $effect(() => this.ask(this.way, session.clock.row));
  }

  /** Whether the model that is shown can be run. */
  readonly live = $derived.by(() => {
    const subject = this.model()?.sides[0]?.prediction.subject ?? "";
    return (this.session.study?.live_subjects ?? []).includes(subject) ? subject : "";
  });

  readonly ways = $derived.by((): Way[] => {
    const info = this.session.recording?.info;
    if (!info || !this.live) return [];
    const fit = this.session.lenses.filter(({ name }) => !info.capabilities.lacks[name]);
    return saliencyWays(fit, info, this.session.runner(this.live)).flatMap(({ ways }) => ways);
  });

  readonly way = $derived.by(() => this.ways.find(({ key }) => key === this.asked()));

  /** The heat over one picture. */
  of({ name, domain }: ArraySpec): DrawnHeat | null {
    const found = this.way && this.found.get(domain);
    const place = found && channelsOf(found.side.prediction.inputs, this.session.recording?.info.arrays ?? [], name);
    if (!found || !place) return null;
    const { width, height } = found.heat;
    const size = width * height;
    // Heat of a layer has one value a pixel, which is of all channels.
    const own = found.heat.channels === place.all;
    const { values: every } = found.heat;
    const values = own ? every.subarray(place.first * size, (place.first + place.count) * size) : every;
    const flat = strongest(values, { width, height, channels: values.length / size });
    return {
      values: flat,
      width,
      height,
      reach: this.reach,
      signed: found.signed,
      unit: found.unit,
      positive: found.positive,
    };
  }

  /** One scale for all pictures, so that paler is less. */
  private readonly reach = $derived(Math.max(0, ...[...this.found.values()].map(({ heat }) => reachOf(heat.values))));

  /** What full colour stands for. */
  readonly scale = $derived.by((): string => {
    const [first] = this.found.values();
    return first && this.way ? `full: ${first.signed ? "±" : ""}${number(this.reach)} ${first.unit}` : "";
  });

  private ask(way: Way | undefined, row: number): (() => void) | void {
    const { session } = this;
    const sides = this.model()?.sides ?? [];
    if (!way || !session.recording || !session.page.connected) {
      this.words = "";
      this.found = new Map();
      return;
    }
    let current = true;
    const late = setTimeout(() => (this.words = "computing…"), 200);
    const calls = sides.map(async (side) => {
      const { subject, inputs } = side.prediction;
      const { lens } = way;
      // A lens over two domains is asked for each: what it finds is laid over the pictures of that one.
      const over = session.lenses.find(({ name }) => name === lens)?.parameters?.find(({ name }) => name === "domain");
      const parameters = { ...way.parameters };
      if (over?.choices?.includes(side.domain)) parameters.domain = side.domain;
      const reply = await lookLive(session, `pair ${side.domain}`, { lens, row, parameters, subject, inputs });
      const heat = heatOf(reply);
      const { signed, unit, positive } = readWords(reply.value);
      return heat && ([side.domain, { heat, signed, unit, positive, side }] as const);
    });
    Promise.all(calls)
      .then((all) => {
        if (!current) return;
        this.found = new Map(all.filter((each) => each !== null));
        this.words = "";
      })
      .catch((problem: unknown) => {
        if (!current || problem instanceof Stale) return;
        this.found = new Map();
        this.words = messageOf(problem);
      })
      .finally(() => clearTimeout(late));
    return () => {
      current = false;
      clearTimeout(late);
    };
  }
}
