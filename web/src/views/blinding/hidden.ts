/** Which kinds of things a world can leave undrawn. */
import type { Edited } from "../../api/edited";

/** What is behind everything cannot be hidden. */
const behind = "background";

/** A world that can hide things says which are hidden now, and which classes there are. */
export function hideable(settings: Readonly<Record<string, unknown>> | undefined): string[] {
  const { invisible, classes } = settings ?? {};
  if (!Array.isArray(invisible) || !Array.isArray(classes)) return [];
  const hidden = new Set<unknown>(invisible);
  return classes.filter((name): name is string => typeof name === "string" && name !== behind && !hidden.has(name));
}

/** The class that the subject was made blind to, by the names of its factors. */
export function suggestedClass(classes: readonly string[], edited: Pick<Edited, "factors">): string {
  const named = edited.factors.map(({ name }) => name.toLowerCase());
  return classes.find((each) => named.some((name) => name.includes(each.toLowerCase()))) ?? "";
}
