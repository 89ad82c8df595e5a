/** Heat on the ground: a map that a lens made, as a picture at its place. */
import { messageOf } from "../../api/errors";
import type { ResultLine } from "../../api/results";
import { toHeat } from "../../marks/heat";
import { readDiverging } from "../../marks/heatmap/diverging";
import type { Session } from "../../state/session.svelte";

export interface Overlay {
  readonly picture: HTMLCanvasElement;
  /** Where the lower left corner lies, and how large it is, in units of places. */
  readonly origin: readonly [number, number];
  readonly width: number;
  readonly height: number;
  /** What full colour stands for. */
  readonly reach: number;
  readonly signed: boolean;
  readonly unit: string;
}

interface Words {
  readonly origin: readonly [number, number];
  readonly cell: number;
  readonly unit: string;
  readonly signed: boolean;
  readonly largest: number;
  readonly positive?: "orange" | "blue";
}

/** To be made where a component is. */
export class Overlays {
  now = $state.raw<Overlay | null>(null);
  problem = $state("");

  constructor(
    private readonly session: Session,
    private readonly asked: () => string,
  ) {
    session.results.want();
    $effect(() => this.bring(this.line));
  }

  /** Every map of these rows, newest first. */
  readonly lines = $derived.by((): readonly ResultLine[] =>
    this.session.results.all.filter(({ type, provisional }) => type === "map" && !provisional),
  );
  readonly line = $derived.by(() => this.lines.find(({ id }) => id === this.asked()));

  /** The heat that was laid on the ground; none where pixels were counted. */
  private heatOf({ arguments: { parameters } }: ResultLine): ResultLine | undefined {
    const { heat = "" } = (parameters ?? {}) as { heat?: string };
    return this.session.results.all.find(({ id }) => id === heat);
  }

  /** Whose heat it is; empty where it is nobody's. */
  subjectOf(line: ResultLine): string {
    const { subject } = this.heatOf(line)?.arguments ?? {};
    return typeof subject === "string" ? subject : "";
  }

  titleOf(line: ResultLine): string {
    const { combine = "" } = (line.arguments.parameters ?? {}) as { combine?: string };
    const heat = this.heatOf(line);
    return [heat?.kind ?? line.kind, heat ? combine : "", this.subjectOf(line)].filter(Boolean).join(", ");
  }

  private bring(line: ResultLine | undefined): (() => void) | void {
    [this.now, this.problem] = [null, ""];
    void this.session.theme.dark;
    if (!line) return;
    let current = true;
    const { results } = this.session;
    Promise.all([results.whole(line.id), results.small(line.id, "values")]).then(
      ([{ shown }, { shape, values }]) => {
        if (!current) return;
        const words = shown as unknown as Words;
        const [height = 0, width = 0] = shape;
        const colours = words.signed ? readDiverging(words.positive) : null;
        const picture = document.createElement("canvas");
        [picture.width, picture.height] = [width, height];
        picture.getContext("2d")!.putImageData(toHeat(values, { width, height }, words.largest, colours), 0, 0);
        const { origin, cell, signed, unit, largest: reach } = words;
        this.now = { picture, origin, width: width * cell, height: height * cell, reach, signed, unit };
      },
      (failure: unknown) => {
        if (current) this.problem = messageOf(failure);
      },
    );
    return () => (current = false);
  }
}
