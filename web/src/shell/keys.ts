/** Keys that work everywhere but where somebody types. */
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
  if (session.workspace === "vision" && playsOut(event.key, session)) return true;
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
      return pins(event.key, session) || bracket(event.key, session);
  }
}

/** While an episode is played out in another way, keys are moves; `p` begins and ends it. */
function playsOut(key: string, session: Session): boolean {
  const { playout } = session;
  if (key === "p" && !playout.open) {
    session.playOut();
    return playout.open;
  }
  if (!playout.open) return false;
  const actions = playout.told?.discrete ? playout.told.actions.length : 0;
  if (/^[1-9]$/.test(key) && Number(key) <= actions) playout.make({ do: "act", action: Number(key) - 1 });
  else if (key === "a") playout.make({ do: "agent" });
  else if (key === "g" && playout.going) playout.stop();
  else if (key === "g") playout.goOn();
  else if (key === "Backspace") playout.back();
  else if (key === "ArrowLeft" || key === "ArrowRight") playout.go(playout.at + (key === "ArrowRight" ? 1 : -1));
  else if (key === "Home") playout.go(0);
  else if (key === "End") playout.go(playout.nodes.length - 1);
  else if (key === "Escape" && session.help) return false;
  else if (key === "Escape" && playout.going) playout.stop();
  else if (key === "p" || key === "Escape") playout.close();
  else return false;
  return true;
}

/** A digit shows that factor alone, once more or 0 all of them. */
function pins(key: string, { workspace, vision }: Session): boolean {
  if (workspace !== "vision" || !/^[0-9]$/.test(key) || Number(key) > vision.count) return false;
  vision.pin(key === "0" ? null : Number(key) - 1);
  return true;
}

/** `[` marks where a selection begins, `]` selects from there to the cursor: brushing time without a mouse. */
function bracket(key: string, session: Session): boolean {
  const { clock } = session;
  if (key === "[") {
    session.mark = clock.row;
    session.toasts.say(`Selection begins at step ${clock.step}; press ] where it ends.`);
    return true;
  }
  if (key !== "]" || session.mark === null) return false;
  const [from, to] = [Math.min(session.mark, clock.row), Math.max(session.mark, clock.row)];
  const name = `${from - clock.start}–${to - clock.start}`;
  session.selection.add(name, { kind: "rows", runs: [[from, to + 1]] });
  session.mark = null;
  return true;
}
