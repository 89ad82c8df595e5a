/** What the saliency workspace looks at: the maps that are shown, and the part of the picture that is asked about. */
import { choice, key, text } from "../address/address.svelte";
import type { ResultLine } from "../../api/results";
import type { Given } from "../results/lenses";
import type { Session } from "../session.svelte";
import { answerTo, readRegion, strongestOf, writeRegion, type Region, type ShownMap } from "./region";

export const regionKey = key<Region | null>("region", {
  otherwise: null,
  read: (told) => readRegion(told) ?? undefined,
  write: (region) => (region ? writeRegion(region) : ""),
});
/** What is open below the maps. */
export const overTab = text("over");
/** The colours of a sign: the page's own, or the papers'. */
export const signs = ["blue and orange", "green and red"] as const;
export const signsKey = choice("signs", signs);
/** The map that is measured, by its place in the grid. */
const mapKey = text("measured");

/** A map that lenses over maps can be asked about. */
export type KnownMap = ShownMap & { readonly asked: Given };

export class Saliency {
  /** The maps of the grid, as they stand there. */
  maps = $state.raw<readonly ShownMap[]>([]);

  /** The strongest pixel of a map over all rows that are looked at, by its place in the grid, where it was measured. */
  strongest = $state.raw<Readonly<Record<string, number>>>({});

  constructor(private readonly session: Session) {}

  /** Read the strongest pixels that were measured of the maps that are shown; any region's measure says them. */
  async readStrongest(): Promise<void> {
    const [start, stop] = this.rows;
    const { results } = this.session;
    const found = await Promise.all(
      this.known.map(async (map): Promise<[string, number][]> => {
        const line = this.answer("region", map);
        if (!line || line.provisional) return [];
        const [rows, { shape, values }] = await Promise.all([
          results.array(line.id, "rows"),
          results.array(line.id, "values"),
        ]);
        return [[map.key, strongestOf(rows.values, values, shape[1] ?? 1, start, stop)]];
      }),
    );
    this.strongest = Object.fromEntries(found.flat());
  }

  /** Measure what is missing of it. */
  measureStrongest(): Promise<void> {
    const missing = this.known.filter((map) => !this.answer("region", map));
    return this.ask("region", { left: 0, top: 0, right: 1, bottom: 1 }, missing);
  }

  /** The rows that are looked at: the episode, or all that the time axis can show. */
  get rows(): readonly [number, number] {
    const { session } = this;
    if (session.recording?.info.ordering == null) return [0, session.recording?.info.rows ?? 0];
    return [session.window.start, session.window.stop];
  }

  /** Every row of the recording. */
  get all(): readonly [number, number] {
    return [0, this.session.recording?.info.rows ?? 0];
  }

  /** Maps that lenses over maps know. */
  get known(): readonly KnownMap[] {
    return this.maps.filter((map): map is KnownMap => map.asked !== null);
  }

  /** The one that is measured where a view shows one alone: the one that was chosen, else the first. */
  get measured(): KnownMap | undefined {
    const chosen = this.session.get(mapKey);
    return this.known.find(({ key }) => key === chosen) ?? this.known[0];
  }

  measure(map: string): void {
    this.session.set(mapKey, map === this.known[0]?.key ? "" : map);
  }

  /** What a lens over maps said of one of them, over these rows. */
  answer(lens: string, map: KnownMap, more: Given = {}, rows = this.rows): ResultLine | undefined {
    const [start, stop] = rows;
    return answerTo(this.session.results.of(lens), { ...map.asked, ...more }, { start, stop, subject: map.subject });
  }

  /** Ask a lens about every map that it did not say anything of. */
  async ask(lens: string, more: Given = {}, maps = this.known, rows = this.rows): Promise<void> {
    for (const map of maps) {
      const found = this.answer(lens, map, more, rows);
      if (found && !found.provisional) continue;
      const who = map.subject ? { subject: map.subject, other: true } : {};
      await this.session.results.look(lens, { ...map.asked, ...more }, { rows: [[rows[0], rows[1]]], ...who });
    }
  }
}
