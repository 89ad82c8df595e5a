/** What the address holds of this workspace. */
import { text } from "../../state/address/address.svelte";

/** The lens whose result is shown; empty: that of the newest. */
export const lensKey = text("lens");
