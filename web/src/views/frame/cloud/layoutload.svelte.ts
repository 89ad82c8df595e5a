/** Fetches the layout that is shown; while a lens lays out, again and again as it moves. */
import { messageOf } from "../../../api/errors";
import type { ResultLine } from "../../../api/results";
import { isActive, resultOf } from "../../../state/results/results.svelte";
import type { Session } from "../../../state/session.svelte";
import { Refresher } from "../../../state/results/refresher";
import { layoutFrom, type Layout } from "./layout";

/** As quick as an eye follows, and no quicker than the service answers. */
const pause_ms = 400;

export class LayoutLoad {
  layout = $state.raw<Layout | null>(null);
  problem = $state("");
  busy = $state(false);
  private readonly wanted = new Refresher((wanted) => this.bring(wanted), pause_ms);

  constructor(private readonly session: Session) {}

  /** Call in an effect: reads what it depends on. */
  follow(lens: string, fits?: (line: ResultLine) => boolean): void {
    const { results } = this.session;
    const job = results.jobOf(lens);
    const coming = isActive(job) ? resultOf(job) : "";
    const line = results.shown(lens, fits);
    const moving = coming && results.all.some((other) => other.id === coming && (fits?.(other) ?? true));
    if (coming && !moving && job?.state === "running") void results.refresh();
    const id = moving ? coming : (line?.id ?? "");
    const state = moving ? `${job!.done}` : line?.provisional ? "stopped" : "end";
    if (!id) this.layout = null;
    this.wanted.set(id ? `${id} ${state}` : "");
  }

  private async bring(wanted: string): Promise<void> {
    const [id, version] = wanted.split(" ") as [string, string];
    const provisional = version !== "end";
    if (!provisional && this.layout?.id === id && !this.layout.provisional) return;
    this.busy = true;
    try {
      const { results } = this.session;
      const [places, rows] = await Promise.all([results.array(id, "places"), results.array(id, "rows")]);
      // Two states of a layout that grows may not fit each other; the next one will.
      if (places.shape[0] !== rows.shape[0]) return;
      if (this.wanted.has(id)) this.layout = layoutFrom(id, places, rows, provisional);
      this.problem = "";
    } catch (problem) {
      if (this.wanted.now === wanted) this.problem = messageOf(problem);
    } finally {
      this.busy = false;
    }
  }
}
