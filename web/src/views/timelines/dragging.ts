/** A column that is dragged from one view to another. */
export const columnType = "application/x-innerview-column";

export function columnDrag(event: DragEvent, name: string): void {
  event.dataTransfer?.setData(columnType, name);
  event.dataTransfer?.setData("text/plain", name);
  if (event.dataTransfer) event.dataTransfer.effectAllowed = "link";
}
