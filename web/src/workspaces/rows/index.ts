import { Poses } from "../../state/recording/poses.svelte";
import { needs, type Workspace } from "../../state/workspace";
import Rows from "./Rows.svelte";

export const workspace: Workspace = {
  name: "rows",
  title: "Rows",
  icon: "M3 3h5v5H3zM10 3h5v5h-5zM3 10h5v5H3zM10 10h5v5h-5z",
  order: 20,
  needs: [needs.noTime],
  views: ["view-geo-map", "view-begin", "view-scatter", "view-gallery", "view-pair"],
  layout: Rows,
  states: [Poses],
  help: "workspace-rows",
};
