/** How views are put into an arrangement, and what becomes of them when two sources are compared. */
import type { Component } from "svelte";

/**
 * Two sources at once: the view twice, A left and B right; once, drawing both and what differs; or once, showing A alone.
 */
export type Compares = "beside" | "difference" | "one";

/** A view's module: `import * as Map from "…/WorldMap.svelte"`. */
export interface ViewModule {
  readonly default: Component<any>;
  readonly compares: Compares;
}
