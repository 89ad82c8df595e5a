/** What was ablated from a subject, in words. */
import type { Edited } from "../../api/edited";

/** Names of factors, or their numbers; a name that several have is said once, with how many. */
export function factorsInWords(factors: Edited["factors"]): string {
  const counts = new Map<string, number>();
  for (const { index, name } of factors) {
    const word = name || `factor ${index + 1}`;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, count]) => (count > 1 ? `${word} (${count} factors)` : word)).join(" and ");
}
