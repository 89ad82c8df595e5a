/** What a row is called: `Ep 7, step 213`. */
import type { OpenRecording } from "./recording";

export function rowName(recording: OpenRecording, row: number): string {
  const group = recording.groups.of(row);
  if (!group) return `${recording.info.row.one} ${row}`;
  return `Ep ${group.label}, ${recording.info.row.one} ${row - group.start}`;
}
