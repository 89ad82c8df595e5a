"""Commands that make or serve a study."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.console import Console

from innerview.errors import InnerviewError
from innerview.serve import Handle, serve
from innerview.serve.wiring import Later
from innerview.store import Study, import_npz, import_table

DEMO_SUBJECT, DEMO_NAME, DEMO_RECORDING = "doom_health", "health agent", "health agent"
DEMO_SEED = 1_000_004  # none of these was trained on; four of the twelve end in death


def demo(path: Path, *, port: int, open_browser: bool, episodes: int) -> None:
    """Make the demo study unless it is there, then serve it."""
    study = Study.open_or_create(path)
    name = _demo_recording(study)
    if name not in study.recordings() or not study.recording(name).complete:
        _record_demo(study, name, episodes)
    zoo = _Zoo(DEMO_SUBJECT)
    _serve(study, port, open_browser, {DEMO_NAME: zoo.subject}, {"health_gathering_supreme": zoo.world})


def _demo_recording(study: Study) -> str:
    """The usual name, or one of its own where that was recorded with the weights of another version."""
    weights = _weights_note()
    recorded = DEMO_RECORDING in study.recordings() and study.recording(DEMO_RECORDING).info.note
    return DEMO_RECORDING if recorded in (False, weights) else f"{DEMO_RECORDING} {weights[-8:]}"


def _weights_note() -> str:
    # Of the file, as loading the model itself would make every start slow.
    folder = files("innerview") / "zoo" / DEMO_SUBJECT
    return f"Weights {sha256((folder / 'weights.safetensors').read_bytes()).hexdigest()[:8]}"


def _record_demo(study: Study, name: str, episodes: int) -> None:
    from innerview.jobs.record import record

    Console(stderr=True).print("Recording the demo: a trained agent plays Doom. This happens once.")
    subject, world = _Zoo(DEMO_SUBJECT).both()
    if name in study.recordings():
        episodes = len(study.recording(name).info.arguments["seeds"])
    record(study, subject, world, episodes=episodes, seeds=DEMO_SEED, name=name, note=_weights_note())


class _Zoo:
    """A zoo model, loaded once, when it is first needed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pair: tuple[Any, Any] | None = None
        self._lock = threading.Lock()

    def both(self) -> tuple[Any, Any]:
        from innerview import zoo

        with self._lock:
            self._pair = self._pair or zoo.load(self._name)
            return self._pair

    def subject(self) -> Any:
        return self.both()[0]

    def world(self) -> Any:
        return self.both()[1]


def record_episodes(
    path: Path,
    subject: str,
    world: str | None,
    *,
    episodes: int,
    seed: int,
    name: str | None,
    lanes: int | None,
    greedy: bool,
    keep: Sequence[str],
    max_steps: int | None,
) -> None:
    """Record, and say where."""
    from innerview.jobs.record import record

    model, own = load_subject(subject)
    played = load_world(world) if world else own
    if played is None:
        raise InnerviewError(
            "Say where it plays with --world: a Gymnasium id, doom:SCENARIO, a .cfg or FILE.py:FUNCTION."
        )
    made = record(
        path,
        model,
        played,
        episodes=episodes,
        seeds=seed,
        name=name,
        lanes=lanes,
        greedy=greedy,
        keep=keep,
        max_steps=max_steps,
    )
    told = f"{made.group_count} episodes, {made.rows:,} {made.info.row.many} in '{made.info.name}'."
    Console().print(f"{told} Look at them with: innerview serve {path}", markup=False, highlight=False, soft_wrap=True)


def import_file(path: Path, source: Path, *, name: str | None, images: Sequence[str]) -> None:
    """Import by the file's ending."""
    study = Study.open_or_create(path)
    if source.suffix.lower() == ".npz":
        made = import_npz(study, source, name=name)
    else:
        named = {column: domain for column, _, domain in (image.partition("=") for image in images)}
        made = import_table(study, source, name=name, images=list(named) or None, domains=named)
    Console().print(f"Imported as '{made}'. Look at it with: innerview serve {path}", markup=False, highlight=False)


def serve_study(path: Path, *, port: int, open_browser: bool, subject: str | None) -> None:
    """Serve until interrupted."""
    study = Study.open(path)
    if subject is None:
        _serve(study, port, open_browser, {}, {})
        return
    model, world = load_subject(subject)
    worlds = {world.info.name: lambda: world} if world is not None else {}
    _serve(study, port, open_browser, {model.info.name: lambda: model}, worlds)


def _serve(
    study: Study,
    port: int,
    open_browser: bool,
    subjects: dict[str, Callable[[], Any]],
    worlds: dict[str, Callable[[], Any]],
) -> None:
    handle: Handle = serve(study, port=port, subjects=Later(subjects), worlds=Later(worlds))
    console = Console()
    console.print(f"innerview is at {handle.url}", highlight=False, soft_wrap=True)
    console.print("[dim]Ctrl-C ends it.[/]")
    if open_browser:
        webbrowser.open(handle.url)
    handle.wait()


def load_subject(text: str) -> tuple[Any, Any]:
    """A subject, and its world where it is known."""
    from innerview import zoo
    from innerview.cli.scripts import from_script
    from innerview.subjects import Subject

    if text.startswith("zoo:"):
        return zoo.load(text.removeprefix("zoo:"))
    made = from_script(text)
    if not isinstance(made, Subject):
        raise InnerviewError(
            f"{text} returned {type(made).__name__}, not a subject. "
            "Let it return iv.subject(module, …) or iv.from_sb3(model)."
        )
    return made, None


def load_world(text: str) -> Any:
    """A world by id, path or script."""
    from innerview.cli.scripts import from_script, is_script
    from innerview.worlds import world

    return world(from_script(text)) if is_script(text) else world(text)
