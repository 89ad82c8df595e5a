import { Saliency as SaliencyState } from "../../state/saliency/saliency.svelte";
import { Trust } from "../../state/trust/trust.svelte";
import { needs, type Workspace } from "../../state/workspace";
import { measuresOfSaliency } from "./begin";
import Saliency from "./Saliency.svelte";

export const workspace: Workspace = {
  name: "saliency",
  title: "Saliency",
  icon: "M2 2h6v6H2zM10 2h6v6h-6zM2 10h6v6H2zM10 10h6v6h-6zM12 13a1 1 0 1 0 2 0a1 1 0 1 0-2 0",
  order: 50,
  needs: [needs.observation, needs.liveSubject],
  views: [
    "view-saliency-grid",
    "view-region",
    "view-learning",
    "view-classes",
    "view-memorised",
    "view-ignored",
    "view-trust",
    "view-begin",
    "view-episodes",
    "view-timelines",
    "view-actions",
  ],
  layout: Saliency,
  states: [SaliencyState, Trust],
  measures: measuresOfSaliency,
  help: "workspace-saliency",
};
