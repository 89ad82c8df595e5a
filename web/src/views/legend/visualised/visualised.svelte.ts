/** Fetches visualised pictures; while the lens visualises, again and again as they change. */
import { messageOf } from "../../../api/errors";
import type { ResultLine } from "../../../api/results";
import type { ArraySlice } from "../../../api/service";
import { isActive, resultOf } from "../../../state/results/results.svelte";
import type { Session } from "../../../state/session.svelte";
import { Refresher } from "../../../state/results/refresher";
import type { Visualisation, VisualisedPicture } from "./visualised";

const pause_ms = 500;

interface Shown {
  readonly id: string;
  readonly value: Visualisation;
  /** [picture, height, width, channel], bytes. */
  readonly pictures: ArraySlice;
  readonly provisional: boolean;
}

/** One picture with what is told about it. */
export interface VisualisedUnit {
  readonly value: Visualisation;
  readonly picture: VisualisedPicture;
  readonly pixels: { readonly shape: readonly number[]; readonly dtype: string; readonly values: ArrayLike<number> };
  readonly provisional: boolean;
}

export class VisualisationLoad {
  shown = $state.raw<Shown | null>(null);
  problem = $state("");
  private readonly wanted = new Refresher((wanted) => this.bring(wanted), pause_ms);

  constructor(private readonly session: Session) {}

  /** Call in an effect: reads what it depends on. */
  follow(fits: (line: ResultLine) => boolean): void {
    const { results } = this.session;
    const job = results.jobOf("visualise");
    const coming = isActive(job) ? resultOf(job) : "";
    const known = results.all.find((line) => line.id === coming);
    if (coming && !known && job?.state === "running") void results.refresh();
    const line = known && fits(known) ? known : results.shown("visualise", fits);
    const moving = line !== undefined && line === known;
    if (!line || (this.shown && this.shown.id !== line.id)) this.shown = null;
    const state = moving ? job!.done : line?.provisional ? "stopped" : line?.created_at;
    this.wanted.set(line ? `${line.id} ${state}` : "");
  }

  /** The picture of a factor, or the first one. */
  get(unit?: number): VisualisedUnit | null {
    const { shown } = this;
    const index = shown?.value.pictures.findIndex((picture) => unit === undefined || picture.unit === unit) ?? -1;
    if (!shown || index < 0) return null;
    const shape = shown.pictures.shape.slice(1);
    const size = shape.reduce((product, side) => product * side, 1);
    const values = (shown.pictures.values as Uint8Array).subarray(index * size, (index + 1) * size);
    return {
      value: shown.value,
      picture: shown.value.pictures[index]!,
      pixels: { shape, dtype: "uint8", values },
      provisional: shown.provisional,
    };
  }

  private async bring(wanted: string): Promise<void> {
    const id = wanted.slice(0, wanted.indexOf(" "));
    const { results } = this.session;
    try {
      const [whole, pictures] = await Promise.all([results.anew(id), results.array(id, "pictures")]);
      const value = whole.value as Visualisation;
      // A state that was replaced between the two may not fit; the next one will.
      if (pictures.shape[0] !== value.pictures.length) return;
      if (this.wanted.has(id)) this.shown = { id, value, pictures, provisional: whole.provisional ?? false };
      this.problem = "";
    } catch (problem) {
      if (this.wanted.now === wanted) this.problem = messageOf(problem);
    }
  }
}
