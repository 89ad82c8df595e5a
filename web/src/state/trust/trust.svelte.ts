/** Whether maps can be believed: what was examined of the open recording, and how it is asked for. */
import { ApiError, messageOf } from "../../api/errors";
import type { ResultLine } from "../../api/results";
import { text } from "../address/address.svelte";
import type { Session } from "../session.svelte";
import { badgeOf, type Badge, type Claim, type Trust as Found } from "./trust";

const kind = "trust";
/** The method whose figures are shown. */
export const methodKey = text("trusted");
/** What stands in the large place: the maps, or what they are worth. */
export const aboveTab = text("above");

export class Trust {
  found = $state.raw<{ readonly id: string; readonly value: Found } | null>(null);
  problem = $state("");
  readonly line = $derived.by((): ResultLine | undefined => this.session.results.shown(kind));
  readonly job = $derived.by(() => this.session.results.jobOf(kind));

  constructor(private readonly session: Session) {}

  /** Called by whoever shows something of it, in an effect. */
  read(): void {
    const { results } = this.session;
    results.want();
    const line = this.line;
    if (!line) return void (this.found = null);
    results.whole(line.id).then(
      (whole) => {
        if (line.id !== this.line?.id) return;
        this.found = { id: line.id, value: whole.value as unknown as Found };
        this.problem = "";
      },
      (failure: unknown) => (this.problem = messageOf(failure)),
    );
  }

  badge(claim: Claim): Badge {
    const recorded = this.session.recording?.info.subject?.name ?? "";
    return badgeOf(this.found?.value ?? null, this.line, claim, recorded);
  }

  /** Open the figures of a method. */
  open(method: string): void {
    this.session.set(methodKey, method);
    this.session.set(aboveTab, kind);
  }

  async examine(other = false): Promise<void> {
    const { results, recording, service } = this.session;
    if (!recording) return;
    results.refused.delete(kind);
    try {
      await results.began(kind, await service.start({ kind, recording: recording.info.name, ...(other && { other }) }));
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      const anyway = problem.kind === "NotAsRecorded" && ((): Promise<void> => this.examine(true));
      results.refused.set(kind, { message: problem.message, ...(anyway && { anyway }) });
    }
  }
}
