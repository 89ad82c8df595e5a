"""The command that says which methods of attribution can be believed on a subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from innerview.cli.outputs import print_other
from innerview.cli.rows import Inputs, Other, Rows, bound, ranges
from innerview.errors import InnerviewError
from innerview.lenses.trust.job import TrustJob

if TYPE_CHECKING:
    from innerview.schema import Result
    from innerview.store import Study

EPISODES, MAX_STEPS = 4, 300
"""What is recorded of a subject where the study has nothing of it."""
_WIDTH = 112
_TITLES = ("method", "verdict", "remains", "places", "actions", "stays", "ahead", "on things")
_LEGEND = (
    "remains: rank correlation of the maps of random networks with those of the trained one, mean over the cascade; a "
    "method passes below {threshold}. places: the same without signs. actions: share of an action's map that another "
    "action's does not have. stays: share of the highlight that is seen again in the next step (by chance). ahead: "
    "area of insertion less deletion, less that of the same map laid elsewhere. on things: share of the map on things "
    "in the masks (by chance). ± is half of a 95 % interval over rows."
)


def trust(
    study: Annotated[Path, typer.Argument(help="The study's folder; it is made where subjects bring their worlds.")],
    subject: Annotated[
        list[str] | None,
        typer.Option(help="zoo:NAME or FILE.py:FUNCTION; may be repeated. Without it, what was examined is printed."),
    ] = None,
    recording: Annotated[str | None, typer.Option(help="Which recording, where a subject made several.")] = None,
    rows: Rows = None,
    input: Inputs = None,
    target: Annotated[str, typer.Option(help="What the maps are of: action, value, or any other.")] = TrustJob.target,
    count: Annotated[int, typer.Option(min=2, help="How many rows are taken, spread.")] = TrustJob.count,
    draws: Annotated[int, typer.Option(min=1, help="How many sets of random weights.")] = TrustJob.draws,
    method: Annotated[
        list[str] | None, typer.Option(help="A method; may be repeated. All that fit unless said.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes to record of a subject that made none.")] = EPISODES,
    max_steps: Annotated[int, typer.Option(min=2, help="Cut those after so many steps.")] = MAX_STEPS,
    markdown: Annotated[Path | None, typer.Option(help="Write the table to this .md file as well.")] = None,
    other: Other = False,
    again: Annotated[bool, typer.Option("--again", help="Examine also what the study knows.")] = False,
) -> None:
    """Say which methods of attribution can be believed on a subject: randomised weights, actions, stability and more.

    Every method that fits is examined beside four edge detectors, which know nothing of the network and must fail.
    Subjects that made no recording of the study are recorded first, in the world that they bring along.

    Examples:

        innerview trust my.study --subject agent.py:make

        innerview trust zoo.study --subject zoo:breakout_dqn --subject zoo:doom_health --markdown table.md
    """
    from innerview.lenses.trust.work import examine
    from innerview.store import Study

    given: dict[str, Any] = {"rows": ranges(rows), "target": target, "count": count, "draws": draws}
    given |= {"methods": method or (), "inputs": bound(input), "other": other, "again": again}
    opened = Study.open_or_create(study) if subject else Study.open(study)
    found = [] if subject else _saved(opened)
    for text in subject or ():
        found.append(examine(opened, *_recorded(opened, text, recording, episodes, max_steps), **given))
    console = Console()
    for result in found:
        print_trust(console, result)
    if markdown is not None:
        markdown.write_text(in_markdown(found), encoding="utf-8")
        console.print(f"Table written to {markdown}.", markup=False, highlight=False, soft_wrap=True)


def print_trust(console: Console, result: Result) -> None:
    """The table of one subject, and what to do about it."""
    value = result.value
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0), title_justify="left")
    table.title = escape(
        f"{value['subject']}: maps of '{value['target']}' in {len(value['rows'])} rows of {result.recording}"
    )
    for title in _TITLES:
        left = title in ("method", "verdict")
        table.add_column(title, justify="left" if left else "right", no_wrap=left)
    for each in value["methods"]:
        table.add_row(*(escape(cell) for cell in cells(each, short=True)))
    # Numbers are never cut, however narrow the terminal, or a file, is.
    console.width = max(console.width, _WIDTH)
    console.print(table)
    for sentence in value["recommendation"]["sentences"]:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    legend = _LEGEND.format(threshold=value["threshold"])
    console.print(legend, markup=False, highlight=False, style="dim", soft_wrap=True)
    print_other(console, result.arguments)
    told = f"Saved as result {result.id} of '{result.recording}'.\n"
    console.print(told, markup=False, highlight=False, soft_wrap=True)


def in_markdown(results: Sequence[Result]) -> str:
    """One table of all subjects, a line for each method, and the advice below it."""
    lines = [f"| subject | {' | '.join(_TITLES)} |", "| --- " * (len(_TITLES) + 1) + "|"]
    for result in results:
        named = result.value["subject"]
        lines += [f"| {named} | {' | '.join(cells(each))} |" for each in result.value["methods"]]
    sentences = [f"- {each}" for result in results for each in result.value["recommendation"]["sentences"]]
    return "\n".join([*lines, "", *sentences, ""])


def cells(method: Mapping[str, Any], *, short: bool = False) -> list[str]:
    """A method's line, as text; `short` gives half the width of an interval instead of its ends."""
    remains, ran, on = method["randomisation"], method["curves"], method["pointing"]
    stays = method["stability"]
    return [
        method["name"],
        method["verdict"],
        _ranged(remains and remains["remains"], short=short),
        f"{remains['places_remain']['mean']:z.2f}" if remains else "–",
        f"{method['actions']['differs']['mean']:z.2f}" if method["actions"] else "–",
        f"{stays['seen_again']['mean']:z.2f} ({stays['by_chance']:z.2f})" if stays else "–",
        _ranged(ran and ran["ahead"], short=short),
        f"{on['mass']['mean']:z.2f} ({on['area']:z.2f})" if on else "–",
    ]


def _ranged(interval: Mapping[str, float] | None, *, short: bool) -> str:
    if not interval:
        return "–"
    if short:
        return f"{interval['mean']:z.2f}±{(interval['high'] - interval['low']) / 2:z.2f}"
    return f"{interval['mean']:z.2f} [{interval['low']:z.2f}, {interval['high']:z.2f}]"


def _saved(study: Study) -> list[Result]:
    """What a study holds, the newest of each recording and subject."""
    newest = {}
    for line in sorted(study.results(), key=lambda each: each.created_at):
        if line.kind == "trust" and not line.provisional:
            newest[line.recording, line.arguments.get("subject")] = line.id
    if not newest:
        raise InnerviewError(
            f"Nothing was examined in {study.path} yet. Say which model to run: --subject zoo:NAME or FILE.py:FUNCTION."
        )
    return [study.result(id) for id in newest.values()]


def _recorded(study: Study, text: str, name: str | None, episodes: int, max_steps: int) -> tuple[Any, str]:
    """A subject, and the recording of it that is looked at; made where there is none."""
    from innerview.cli.make import load_subject
    from innerview.lenses.trust.work import own_recording
    from innerview.rollouts.record import record
    from innerview.worlds.crowds import MaskProvider

    model, world = load_subject(text)
    made = [study.recording(each).info.subject for each in study.recordings()]
    own = any(info is not None and info.name == model.info.name for info in made)
    if name or own or (world is None and made):
        return model, name or own_recording(study, model)
    if world is None:
        raise InnerviewError(
            f"'{text}' made no recording in {study.path} and brings no world. Record one: innerview record."
        )
    masked = any(spec.role == "mask" for spec in world.info.observations)
    if not masked and isinstance(world, MaskProvider):
        world = world.with_masks()
    return model, record(study, model, world, episodes=episodes, max_steps=max_steps).info.name


COMMANDS = (trust,)
