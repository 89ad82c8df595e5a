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
  help: "workspace-vision",
};
