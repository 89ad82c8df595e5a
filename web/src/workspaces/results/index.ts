import type { Workspace } from "../../state/workspace";
import Results from "./Results.svelte";

export const workspace: Workspace = {
  name: "results",
  title: "Results",
  icon: "M3 14.5h12M4.5 12V8M9 12V3.5M13.5 12V6",
  order: 60,
  needs: [],
  views: ["view-results", "view-pair"],
  layout: Results,
  help: "workspace-results",
};
