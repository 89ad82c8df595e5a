/** Every folder here with an `index.ts` is a workspace; nothing else names one. */
import { Workspaces, type Workspace } from "../state/workspace";

export const workspaces = new Workspaces(import.meta.glob<{ workspace: Workspace }>("./*/index.ts", { eager: true }));
