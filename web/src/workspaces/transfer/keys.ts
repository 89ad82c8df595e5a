import { text } from "../../state/address/address.svelte";

/** Which overview stands below the models. */
export const tabKey = text("overview");
