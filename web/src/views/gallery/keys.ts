/** What the table and the pictures of rows read from the address. */
import { flag, text, wish } from "../../state/address/address.svelte";

export const formKey = wish("rows", ["pictures", "table"]);
/** Whether selected rows alone are listed. */
export const pickedKey = flag("picked", true);
/** The array whose pictures are shown. */
export const galleryKey = text("gallery");
