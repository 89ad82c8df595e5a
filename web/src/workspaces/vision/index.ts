import { Ablation } from "../../state/ablation/ablation.svelte";
import { measuresOfVision } from "./begin";
import { WhatIf } from "../../state/whatif/whatif.svelte";
import { Vision as VisionState } from "../../state/vision/vision.svelte";
import { needs, type Workspace } from "../../state/workspace";
import Vision from "./Vision.svelte";

export const workspace: Workspace = {
  name: "vision",
  title: "Vision",
  icon: "M2 9q7-8 14 0q-7 8-14 0zM7 9a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
  order: 40,
  needs: [needs.time, needs.subject, needs.imageInput],
  views: [
    ...["view-attribution", "view-legend", "view-totals", "view-what-if", "view-ablation", "view-slit", "view-begin"],
    ...["view-episodes", "view-actions", "view-timelines"],
  ],
  layout: Vision,
  // While an episode is rolled out keys are moves, before they are factors.
  states: [WhatIf, VisionState, Ablation],
  measures: measuresOfVision,
  highlight: ["advantage"],
  help: "workspace-vision",
};
