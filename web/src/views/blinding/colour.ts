/** The colour that stands for a factor in the legend, or a quiet one where another result is shown there. */

import { factorPlace } from "../../marks/drops";

export const factorColour = (factor: number, shown: boolean): string =>
  shown ? `var(--c${factorPlace(factor)})` : "var(--muted)";
