/** What a result holds, read when its line changes: the value, and some of its arrays. */
import { messageOf } from "../../../api/errors";
import type { ResultLine } from "../../../api/results";
import type { ArraySlice } from "../../../api/service";
import type { Session } from "../../../state/session.svelte";

export interface Answer {
  readonly id: string;
  readonly value: unknown;
  readonly arrays: Readonly<Record<string, ArraySlice>>;
}

/** To be called where a component is made. */
export class Answers {
  now = $state.raw<Answer | null>(null);
  problem = $state("");

  constructor(session: Session, line: () => ResultLine | undefined, names: readonly string[] = []) {
    session.results.want();
    $effect(() => {
      const wanted = line();
      this.problem = "";
      if (!wanted) {
        this.now = null;
        return;
      }
      let current = true;
      const { id, provisional } = wanted;
      const { results } = session;
      Promise.all([
        provisional ? results.anew(id) : results.whole(id),
        ...names.map((name) => results.array(id, name)),
      ]).then(
        ([{ value }, ...arrays]) => {
          if (!current) return;
          this.now = { id, value, arrays: Object.fromEntries(names.map((name, i) => [name, arrays[i]!])) };
        },
        (failure: unknown) => {
          if (current) this.problem = messageOf(failure);
        },
      );
      return () => (current = false);
    });
  }
}
