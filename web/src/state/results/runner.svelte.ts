/** The subject that a lens runs: what can be chosen of it, as the service says. */
import { SvelteMap } from "svelte/reactivity";
import type { RecordingInfo } from "../../api/model";
import type { Service } from "../../api/service";

export interface Runner {
  readonly layers: readonly string[];
  readonly convolutions: readonly string[];
  /** Names of its heads. */
  readonly heads: readonly string[];
  /** What a gradient or an attribution can be taken of. */
  readonly targets: readonly string[];
}

type Described = Pick<NonNullable<RecordingInfo["subject"]>, "layers" | "convolutions" | "heads">;

const runnerOf = (subject: Described | null, targets: readonly string[]): Runner => ({
  layers: subject?.layers ?? [],
  convolutions: subject?.convolutions ?? [],
  heads: (subject?.heads ?? []).map((head) => head.name),
  targets,
});

/** The subject that is shown with a recording. */
export const recordedRunner = ({ subject, capabilities }: RecordingInfo): Runner =>
  runnerOf(subject, capabilities.targets);

/** Live subjects, each asked about once. */
export class Runners {
  private readonly asked = new Set<string>();
  private readonly known = new SvelteMap<string, Runner>();

  constructor(private readonly service: Pick<Service, "subject">) {}

  /**
   * Who runs on a recording's rows: the `live` subject of that name, else the recorded one, else the only live one.
   * Null while the service describes it.
   */
  of(recording: RecordingInfo, live: readonly string[], name = ""): Runner | null {
    const recorded = recording.subject?.name;
    const wanted = name || recorded || (live.length === 1 ? live[0]! : "");
    const described = wanted === recorded && recording.capabilities.targets.length > 0;
    if (described || !live.includes(wanted)) return recordedRunner(recording);
    if (!this.asked.has(wanted)) {
      this.asked.add(wanted);
      this.service.subject(wanted).then(
        ({ info, targets }) => this.known.set(wanted, runnerOf(info, targets)),
        () => this.asked.delete(wanted),
      );
    }
    return this.known.get(wanted) ?? null;
  }
}
