/** Keys that work everywhere but where somebody types. */
import { rowsName } from "../state/recording/rowname";
import type { Session } from "../state/session.svelte";

export function onKey(event: KeyboardEvent, session: Session, clicked: EventTarget | null): void {
  const target = event.target as HTMLElement;
  if (target.closest("input, textarea, select, [contenteditable]")) return;
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key.toLowerCase() === "z") {
    if (event.shiftKey) session.undo.redo();
    else session.undo.undo();
    event.preventDefault();
    return;
  }
  if (command || event.altKey || !session.recording?.info.ordering) return;
  if (act(event, { target, clicked }, session)) event.preventDefault();
}

interface Focus {
  target: HTMLElement;
  /** What the pointer pressed last, if no key moved the focus since. */
  clicked: EventTarget | null;
}

function act(event: KeyboardEvent, { target, clicked }: Focus, session: Session): boolean {
  const clock = session.clock;
  if (session.openStates.some((state) => state.key?.(event.key))) return true;
  switch (event.key) {
    case " ":
      // A button that was reached by keyboard keeps its key; one that was only clicked lets go.
      if (target.closest("button, a, summary") && !(clicked instanceof Node && target.contains(clicked))) return false;
      target.blur();
      clock.toggle();
      return true;
    case "ArrowLeft":
    case "ArrowRight": {
      const direction = event.key === "ArrowRight" ? 1 : -1;
      if (event.shiftKey) session.goToSelected(direction);
      else clock.by(direction);
      return true;
    }
    case "Home":
      clock.by(-clock.length);
      return true;
    case "End":
      clock.by(clock.length);
      return true;
    default:
      return bracket(event.key, session);
  }
}

/** `[` marks where a selection begins, `]` selects from there to the cursor: brushing time without a mouse. */
function bracket(key: string, session: Session): boolean {
  const { clock } = session;
  if (key === "[") {
    session.page.mark = clock.row;
    session.toasts.say(`Selection begins at step ${clock.step}; press ] where it ends.`);
    return true;
  }
  if (key !== "]" || session.page.mark === null) return false;
  const [from, to] = [Math.min(session.page.mark, clock.row), Math.max(session.page.mark, clock.row)];
  session.selection.add(rowsName(session.recording!, from, to + 1), { kind: "rows", runs: [[from, to + 1]] });
  session.page.mark = null;
  return true;
}
