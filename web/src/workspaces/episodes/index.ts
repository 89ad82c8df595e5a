import { needs, type Workspace } from "../../state/workspace";
import Episodes from "./Episodes.svelte";

export const workspace: Workspace = {
  name: "episodes",
  title: "Episodes",
  icon: "M3 3h12v12H3zM7.5 6.5v5l4-2.5z",
  order: 10,
  needs: [needs.time],
  views: ["view-begin", "view-episodes", "view-observation", "view-actions", "view-timelines", "view-map"],
  layout: Episodes,
  help: "workspace-episodes",
};
