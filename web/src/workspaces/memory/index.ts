import { Stretches } from "../../state/memory/stretches.svelte";
import { Edits } from "../../state/memory/edits.svelte";
import { Memory as MemoryState } from "../../state/memory/memory.svelte";
import { needs, type Workspace } from "../../state/workspace";
import Memory from "./Memory.svelte";

export const workspace: Workspace = {
  name: "memory",
  title: "Memory",
  icon: "M2 5h14M2 9h14M2 13h14M6 2v14M11 2v14",
  order: 30,
  needs: [needs.time, needs.memory],
  views: [
    ...["view-memory", "view-projection", "view-flags", "view-strategy", "view-influence", "view-align", "view-edits"],
    ...["view-reductions", "view-slit", "view-begin", "view-observation", "view-actions", "view-timelines", "view-map"],
  ],
  layout: Memory,
  states: [MemoryState, Stretches, Edits],
  help: "workspace-memory",
};
