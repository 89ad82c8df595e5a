"""`innerview explorable`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from innerview.errors import InnerviewError
from innerview.store import Recording, Study


def explorable(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    out: Annotated[Path, typer.Argument(help="The page to write: .html.")],
    recording: Annotated[str | None, typer.Option(help="Which recording, where there are several.")] = None,
    episode: Annotated[str | None, typer.Option(help="Which episode; the one that earned most where not said.")] = None,
    reduction: Annotated[
        list[str] | None, typer.Option(help="A saved reduction to offer; may be repeated. All where not said.")
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option(help="zoo:NAME or FILE.py:FUNCTION; bundled models are known by their weights."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
) -> None:
    """Write one page for people who are not experts: how much memory does this agent need?

    The page opens without a server and stays under 3 MB. The agent's recurrence and policy run in it.

    Examples:

        innerview explorable my.study memory.html

        innerview explorable my.study memory.html --episode 8 --subject agent.py:make
    """
    from innerview.cli.look import only_recording  # the terminal loads this module
    from innerview_zoo.explorable.page import export_explorable

    opened = Study.open(study)
    source = only_recording(opened, recording)
    model = _subject(source, subject)
    made = export_explorable(
        opened, model, out, recording=source.name, episode=episode, reductions=reduction or None, title=title
    )
    size = made.stat().st_size / 1e6
    Console().print(f"Wrote {made} ({size:.1f} MB). Open it in any browser.", markup=False, highlight=False)


def _subject(recording: Recording, named: str | None) -> Any:
    """The subject that is named, or the bundled one that was recorded."""
    import innerview_zoo as zoo
    from innerview.cli.make import load_subject

    if named is not None:
        return load_subject(named)[0]
    info, world = recording.info.subject, recording.info.world
    for entry in zoo.entries() if info is not None else ():
        if world is not None and world.family != entry.family:
            continue
        model, _ = zoo.load(entry.name)
        if info is not None and model.info.identity == info.identity:
            return model
    who = f"'{info.name}'" if info is not None else "this recording"
    raise InnerviewError(
        f"The weights of {who} are needed, and no bundled model has them. Say where they are with --subject: "
        "zoo:NAME, or FILE.py:FUNCTION that returns a subject."
    )
