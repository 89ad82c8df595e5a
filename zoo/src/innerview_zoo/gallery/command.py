"""Makes the gallery: records, computes maps, measures the claims, writes the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from innerview.store import Study
from innerview_zoo.gallery.agents import ROWS, SEED, STEPS, YOUNG, RecordedAgent, Row, recorded
from innerview_zoo.gallery.claims import CLAIMS, found
from innerview_zoo.gallery.maps import GRADCAM, GUIDED, METHODS, Maps, Method, maps
from innerview_zoo.gallery.page import Cell, Table, write

Say = Callable[[str], None]


def run(out: Path) -> Path:
    """The whole gallery; what is there already is not computed again."""
    console = Console()
    out.mkdir(parents=True, exist_ok=True)
    where = out / "gallery.study"
    study = Study.open(where) if where.exists() else Study.create(where, "Gallery")
    page = out / "gallery.html"
    made(study, page, rows=ROWS, young=YOUNG, steps=STEPS, say=lambda text: console.print(text, highlight=False))
    console.print(f"Wrote {page}", highlight=False, soft_wrap=True)
    return page


def made(study: Study, page: Path, *, rows: Sequence[Row], young: Row, steps: range, say: Say) -> None:
    """Record, compute, measure and write."""
    agents, younger = [], {}
    for row in rows:
        say(row.title)
        agents.append(recorded(study, row, steps))
        for age in row.younger:
            each = recorded(study, _aged(row, age), steps)
            younger[each.row.key] = each
    youngest = younger.get(young.key) or recorded(study, young, steps)
    say("Maps")
    tables = [_methods(agents), _streams(agents), _frames(agents), _early(youngest)]
    findings = []
    for claim in CLAIMS:
        say(claim.text)
        findings += found([claim], agents, list(younger.values()))
    write(page, intro=_intro(steps), tables=tables, findings=findings)


def _aged(row: Row, age: str) -> Row:
    return Row(name=row.name, title=f"{row.title}, {age}", paper=row.paper, age=age)


def _intro(steps: range) -> list[str]:
    return [
        "The tables of “Are gradient-based saliency maps useful in deep reinforcement learning?” (Rosynski, Kirchner, "
        "Valdenegro-Toro 2020), made with the zoo's Atari agents. Each agent plays one game from the same start "
        f"(seed {SEED:,}); the pictures show step {steps[len(steps) // 2]}, the figures below are of steps {steps[0]} "
        f"to {steps[-1]}, with 95 % bootstrap intervals over steps.",
        "Maps are of the chosen action's Q value or log-probability and of the last frame, where not said otherwise. "
        "The frame stands at half its brightness; green speaks for the action, red against it. Each map is scaled to "
        "its own largest value, which is written below it.",
    ]


def _cell(agent: RecordedAgent, made: Maps, *, back: int = 0) -> Cell:
    frame = agent.recording.array("observation", agent.pictured.start, agent.pictured.stop)[0, :, :, -1 - back]
    note = f"inverted in {100 * made.inverted:.0f} % of the steps" if made.inverted else ""
    return Cell(map_hw=made.last(back)[agent.shown], frame_hw=np.asarray(frame), note=note)


def _shown(agent: RecordedAgent, method: Method, *, back: int = 0, **parameters: Any) -> Cell:
    return _cell(agent, maps(agent, method, **parameters), back=back)


def _named(agent: RecordedAgent) -> str:
    return f"{agent.row.title} (the paper's: {agent.row.paper})"


def _methods(agents: Sequence[RecordedAgent]) -> Table:
    rows = [(_named(agent), [_shown(agent, method) for method in METHODS]) for agent in agents]
    return Table(
        title="Table 1: methods",
        words="Six methods on one step. CAMs are of the first convolution.",
        columns=[method.title for method in METHODS],
        rows=rows,
    )


def _streams(agents: Sequence[RecordedAgent]) -> Table:
    rows: list[tuple[str, list[Cell | None]]] = []
    for agent in agents:
        if not agent.row.streams:
            continue
        number = int(agent.recording.columns(["action"], agent.pictured.start, agent.pictured.stop)["action"][0])
        cells: list[Cell | None] = [
            _shown(agent, GUIDED, target="value"),
            _shown(agent, GUIDED, target=f"{agent.actions[number]} of advantage"),
        ]
        rows.append(
            (_named(agent), [*cells, *(_shown(agent, GRADCAM, layer=layer) for layer in agent.subject.convolutions)])
        )
    return Table(
        title="Table 2: streams and layers",
        words="Guided backpropagation from the value stream and from the chosen action's advantage; Grad-CAM at each "
        "convolution.",
        columns=["Value stream", "Advantage stream", "1st conv. layer", "2nd conv. layer", "3rd conv. layer"],
        rows=rows,
    )


def _frames(agents: Sequence[RecordedAgent]) -> Table:
    backs = sorted({back for agent in agents for back in agent.row.back})
    rows = [
        (_named(agent), [_shown(agent, GUIDED, back=back) if back in agent.row.back else None for back in backs])
        for agent in agents
        if agent.row.back
    ]
    words = "Guided backpropagation to earlier frames of the same input, each over its own frame."
    return Table(title="Table 3: frames before", words=words, columns=[f"t−{back}" for back in backs], rows=rows)


def _early(agent: RecordedAgent) -> Table:
    return Table(
        title="Table 4: a network that has hardly learnt",
        words="The split-attention agent after 0.13 million decisions (the paper's: 0.25 million), playing for itself.",
        columns=[method.title for method in METHODS],
        rows=[(_named(agent), [_shown(agent, method) for method in METHODS])],
    )
