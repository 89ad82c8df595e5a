/** What several views read from the address. */
import { choice, text } from "../../state/address/address.svelte";

/** The array that is looked at, and the channel of it. */
export const seeKey = text("see");
/** What fills a whole drop: the strongest of the episode, or of the step. */
export const scaleKey = choice("scale", ["episode", "step"]);
