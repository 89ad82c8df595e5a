/** What the address holds of generic views. */
import { amount, choice, text, wish } from "../../state/address/address.svelte";

const whole = (name: string, otherwise: number) => amount(name, { otherwise, fits: Number.isInteger });

/** Saved values, or those of the current row as a live model says. */
export const fromKey = choice("found-from", ["saved", "live"]);
export const inputKey = text("found-input");
/** -1 is the strongest of all channels. */
export const channelKey = whole("found-channel", -1);
/** What full colour stands for: the largest size in this row, or in all. */
export const scaleKey = choice("found-scale", ["row", "all"]);
/** The column that colours a layout; empty: one colour. */
export const hueKey = wish("found-hue");
export const cameraKey = text("found-camera");
export const acrossKey = whole("found-across", 0);
/** -1 counts rows. */
export const upKey = whole("found-up", -1);
/** The column of a table and the way: "2~down". */
export const sortKey = text("found-sort");
export const orderKey = choice("found-order", ["given", "score"]);
