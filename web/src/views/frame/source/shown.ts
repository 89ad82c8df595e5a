/** How views are put into an arrangement, and what becomes of them when two sources are compared. */
import type { Component } from "svelte";

/**
 * Two sources at once: the view twice, A left and B right; once, drawing both and what differs; or once, showing A alone.
 */
export type Compares = "beside" | "difference" | "one";

/** What a view is called, in the words of the field, and the question it answers: said here and nowhere else. */
export interface Titles {
  readonly title: string;
  readonly question: string;
  /** Where the title has no room, such as on a tab. */
  readonly short?: string;
}

/** A view's module: `import * as Map from "…/WorldMap.svelte"`. */
export interface ViewModule {
  readonly default: Component<any>;
  readonly compares: Compares;
  readonly titles: Titles;
}
