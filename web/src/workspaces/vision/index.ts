import { Blinding } from "../../state/blinding.svelte";
import { measuresOfVision } from "../../state/measuresvision";
import { Playout } from "../../state/playout.svelte";
import { Vision as VisionState } from "../../state/vision.svelte";
import { needs, type Workspace } from "../../state/workspace";
import Vision from "./Vision.svelte";

export const workspace: Workspace = {
  name: "vision",
  title: "Vision",
  icon: "M2 9q7-8 14 0q-7 8-14 0zM7 9a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
  order: 40,
  needs: [needs.time, needs.subject, needs.imageInput],
  views: [
    ...["view-news", "view-legend", "view-totals", "view-playout", "view-blinding", "view-slit", "view-begin"],
    ...["view-episodes", "view-actions", "view-timelines"],
  ],
  layout: Vision,
  // While an episode is played out keys are moves, before they are factors.
  states: [Playout, VisionState, Blinding],
  measures: measuresOfVision,
  telling: ["surprise"],
  help: "workspace-vision",
};
