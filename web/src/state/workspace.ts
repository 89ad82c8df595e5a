/** What a workspace is, what it may need of a recording, and which ones there are. */
import type { Component } from "svelte";
import type { Capabilities, RecordingInfo } from "../api/model";
import type { Interval } from "./time/interval";
import type { Measure } from "./begin/ranking";
import type { OpenRecording } from "./recording/recording";
import type { Session } from "./session.svelte";

/** One thing that a workspace asks of a recording; `missing` ends the sentence “Memory needs …”. */
export interface Need {
  readonly fits: (offered: Capabilities) => boolean;
  readonly missing: string;
}

const need = (fits: Need["fits"], missing: string): Need => ({ fits, missing });

/** Needs that several workspaces have; one of its own is written in its folder. */
export const needs = {
  time: need((offered) => offered.ordered, "rows with time, such as the steps of episodes"),
  noTime: need((offered) => !offered.ordered, "rows without time, such as paired images"),
  subject: need((offered) => offered.subject, "a recorded subject"),
  liveSubject: need((offered) => offered.live, "a live subject: serve the study with a model"),
  memory: need(
    (offered) => (offered.arrays.memory ?? []).length > 0,
    "a subject with memory: record one whose state is carried from step to step",
  ),
  imageInput: need(
    ({ arrays, images }) => (arrays.observation ?? []).some((name) => images.includes(name)),
    "a subject that sees: record one that is given pictures",
  ),
  observation: need(
    ({ arrays }) => (arrays.observation ?? []).length > 0,
    "a subject whose observations were recorded",
  ),
  images: need((offered) => offered.images.length > 0, "pictures in its rows"),
  domains: need((offered) => offered.domains.length > 1, "pictures of two domains, such as sim and real"),
  attention: need((offered) => offered.sites.includes("attention"), "a subject with attention"),
} as const satisfies Record<string, Need>;

export const head = (kind: string): Need =>
  need((offered) => offered.heads.includes(kind), `a subject with a head of kind “${kind}”`);
export const lens = (name: string): Need =>
  need((offered) => offered.lenses.includes(name), `rows and a subject that the lens “${name}” fits`);

/** How a recording came to be shown. */
export interface Attached {
  /** It was shown before, and only grew or was linked to. */
  readonly same: boolean;
  /** The address says what to show of it. */
  readonly linked: boolean;
  /** The recording that was shown before, by its name. */
  readonly before: string;
}

/** What a workspace remembers of a source. Everything is optional; the shell asks while the workspace is open. */
export interface WorkspaceState {
  attach?(recording: OpenRecording, how: Attached): void;
  /** A key that nothing else took; true where it was for this workspace. */
  key?(key: string): boolean;
  /** Steps beyond the recorded end that are shown. */
  readonly beyond?: number;
  /** Rows that every view with time marks. */
  readonly interval?: Interval | null;
}

/** Made once for each source that is looked at. */
export type WorkspaceStateMaker<State extends object = object> = new (session: Session) => State;

export interface Workspace {
  /** The name of its folder, in addresses too. */
  readonly name: string;
  readonly title: string;
  /** The path of an icon of 18 × 18. */
  readonly icon: string;
  /** Its place in the rail, smallest first. */
  readonly order: number;
  readonly needs: readonly Need[];
  /** The docs pages of the views it shows. */
  readonly views: readonly string[];
  readonly layout: Component;
  /** What it remembers of a source: views get it by `session.of(…)`. */
  readonly states?: readonly WorkspaceStateMaker[];
  /** Where to begin in this workspace, before what holds for every recording. */
  readonly measures?: (info: RecordingInfo, session: Session) => Measure[];
  /** Derived columns that say here where to look. */
  readonly highlight?: readonly string[];
  /** Its page of the docs. */
  readonly help: string;
}

/** All workspaces: the rail, routes, needs and help are made from them. */
export class Workspaces {
  readonly all: readonly Workspace[];

  /** From modules by path: `./memory/index.ts` exports `workspace` with the name of its folder. */
  constructor(modules: Readonly<Record<string, { readonly workspace?: Workspace }>>) {
    const found = Object.entries(modules).map(([path, { workspace }]) => {
      const folder = path.split("/").at(-2);
      if (!workspace) throw new Error(`${path} does not export \`workspace\`.`);
      if (workspace.name !== folder)
        throw new Error(`${path} is called “${workspace.name}”; its folder is “${folder}”.`);
      return workspace;
    });
    this.all = found.sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1));
  }

  named(name: string): Workspace | undefined {
    return this.all.find((workspace) => workspace.name === name);
  }

  /** The one that was asked for where the recording can feed it, else the first that it can. */
  suitable(wanted: string, offered: Capabilities): Workspace | undefined {
    const fits = this.all.filter((workspace) => lacking(workspace, offered).length === 0);
    return fits.find((workspace) => workspace.name === wanted) ?? fits[0] ?? this.all[0];
  }
}

export function lacking(workspace: Workspace, offered: Capabilities): Need[] {
  return workspace.needs.filter((each) => !each.fits(offered));
}

interface Offer {
  readonly name: string;
  readonly capabilities: Capabilities;
}

/** Why a workspace cannot be opened, as the end of a sentence; empty where it can. */
export function missing(workspace: Workspace, open: Capabilities | null, study: readonly Offer[]): string {
  if (!study.length) return "needs a recording: make one with iv.record(…) or `innerview record`";
  if (!open) return "needs a recording that can be read";
  const lacks = lacking(workspace, open);
  if (!lacks.length) return "";
  const other = study.find(({ capabilities }) => !lacking(workspace, capabilities).length);
  const here = other ? `; this recording has none, “${other.name}” has` : "";
  return `needs ${lacks.map((each) => each.missing).join(" and ")}${here}`;
}
