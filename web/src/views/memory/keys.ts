/** What parts of the memory view read from the address. */
import { flag } from "../../state/address/address.svelte";

/** Whether cells are as high as wide. */
export const squareKey = flag("square");
