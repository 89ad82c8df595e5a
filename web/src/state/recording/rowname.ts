/** What rows are called: `Ep 7, step 213`, and `ep 7: 12–40` for rows that follow each other. */
import { count } from "../format";
import type { OpenRecording } from "./recording";

type Named = Pick<OpenRecording, "groups" | "info">;

export function rowName(recording: Named, row: number): string {
  const group = recording.groups.of(row);
  if (!group) return `${recording.info.row.one} ${row}`;
  return `Ep ${group.label}, ${recording.info.row.one} ${row - group.start}`;
}

/** Rows from the first to the one before `stop`; each end is counted in the episode it lies in. */
export function rowsName(recording: Named, start: number, stop: number): string {
  const { groups, info } = recording;
  const [first, last] = [groups.of(start), groups.of(stop - 1)];
  if (!first || !last) return `${info.row.many} ${start}–${stop - 1}`;
  if (first === last) return `ep ${first.label}: ${start - first.start}–${stop - 1 - first.start}`;
  return `ep ${first.label}: ${start - first.start} – ep ${last.label}: ${stop - 1 - last.start}`;
}

/** A row on a time axis: its step where one episode is shown, and the episode too where all are. */
export function momentName(recording: Named, row: number, scope: "episode" | "recording"): string {
  const group = recording.groups.of(row);
  if (!group) return `${recording.info.row.one} ${count(row)}`;
  const step = `step ${count(row - group.start)}`;
  return scope === "recording" ? `ep ${group.label}, ${step}` : step;
}
