import { Poses } from "../../state/recording/poses.svelte";
import { needs, type Need, type Workspace } from "../../state/workspace";
import { measuresOfTransfer } from "./begin";
import Transfer from "./Transfer.svelte";

const pose: Need = {
  fits: ({ posed }) => posed,
  missing: "rows whose pose is known: declare which columns are x and y",
};

export const workspace: Workspace = {
  name: "transfer",
  title: "Transfer",
  icon: "M4 6h8M9 3l3 3-3 3M14 12H6M9 9l-3 3 3 3",
  order: 45,
  needs: [needs.noTime, needs.domains, pose],
  views: [
    "view-models",
    "view-kinds",
    "view-rooms",
    "view-orientation",
    "view-begin",
    "view-geo-map",
    "view-joint",
    "view-pair",
  ],
  layout: Transfer,
  states: [Poses],
  measures: (info, session) => measuresOfTransfer(info, session.of(Poses)),
  help: "workspace-transfer",
};
