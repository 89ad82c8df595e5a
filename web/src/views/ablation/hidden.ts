/** Which kinds of things a world can leave undrawn. */
import type { Edited } from "../../api/edited";
import type { StudyInfo } from "../../api/model";

/** What the live world of a recording can hide: that of its name, or the first, as the service chooses. */
export function hidableIn(
  study: Pick<StudyInfo, "live_worlds" | "hidable"> | null,
  world: string | undefined,
): readonly string[] {
  const name = world !== undefined && study?.live_worlds.includes(world) ? world : study?.live_worlds[0];
  return study?.hidable[name ?? ""] ?? [];
}

/** The class that was ablated from the subject, by the names of its factors. */
export function suggestedClass(classes: readonly string[], edited: Pick<Edited, "factors">): string {
  const named = edited.factors.map(({ name }) => name.toLowerCase());
  return classes.find((each) => named.some((name) => name.includes(each.toLowerCase()))) ?? "";
}
