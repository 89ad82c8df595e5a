/** What the legend and the detail of a factor read from the address. */
import { choice } from "../../state/address/address.svelte";

export const examplesKey = choice("examples", ["all", "good", "bad"]);
export const patchesKey = choice("patches", ["best", "places", "visualised"]);
