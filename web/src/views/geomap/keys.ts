/** How the map is drawn. */
import { choice, flag, text, wish } from "../../state/address/address.svelte";

/** Colour alone, pins to the truth, or a wedge for each domain. */
export const encodings = ["colour", "pins", "wedges"] as const;
export type Encoding = (typeof encodings)[number];
export const encodingKey = choice<Encoding>("encoding", encodings);
/** Whether the map keeps to where the selection lies. */
export const clipKey = flag("clip", true);
/** What colours: the gap between two domains, or the error of one, by its name. */
export const colourKey = wish("colour-by");
/** The result whose heat lies on the ground; empty: none. */
export const overlayKey = text("map-heat");
