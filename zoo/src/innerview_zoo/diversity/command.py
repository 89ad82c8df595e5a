"""Runs the diversity experiment with the zoo's platformer agents, prints its table and draws its plots."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Lines

from innerview.errors import InnerviewError

if TYPE_CHECKING:
    from innerview.worlds import World
    from innerview_zoo.diversity.experiment import Candidate, Diversity, Seen
    from innerview_zoo.models.platformer.score import Member
    from innerview_zoo.report import Figure

APART = 20_000_000
"""Levels that are looked at lie so many seeds beyond those that completion is measured on."""
LEVELS_TO_LOOK_AT = 24
WHERE = Path(".innerview/diversity")
TRAIN_MINUTES = 30.0


@dataclass(frozen=True, kw_only=True)
class Options:
    """How the experiment is done."""

    out: Path = WHERE
    study: Path | None = None
    levels: int | None = None
    """Completion over so many levels anew; None takes what each card claims."""
    episodes: int = LEVELS_TO_LOOK_AT
    fits: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    again: bool = False
    train: bool = False
    minutes: float = TRAIN_MINUTES
    device: str = "cpu"


def run(wanted: Options) -> None:
    """The experiment with the zoo's agents on levels that nobody trained on."""
    from innerview.worlds import world
    from innerview_zoo.worlds.platformer import FIRST_TEST_LEVEL

    console = Console()
    measure(console, wanted, candidates(console, wanted), world("platformer", masks=True), FIRST_TEST_LEVEL + APART)


def measure(console: Console, wanted: Options, who: Sequence[Candidate], where: World, first: int) -> None:
    """Measure, print, draw."""
    from innerview_zoo.diversity.experiment import diversity
    from innerview_zoo.diversity.plots import completion_plot, meaning_plot

    study = wanted.study or wanted.out / "diversity.study"
    found = diversity(
        study,
        who,
        where,
        seeds=range(first, first + wanted.episodes),
        parameters=wanted.parameters,
        fits=wanted.fits,
        without=wanted.without,
        again=wanted.again,
    )
    show(console, found, wanted)
    wanted.out.mkdir(parents=True, exist_ok=True)
    (wanted.out / "completion.svg").write_text(completion_plot(found), encoding="utf-8")
    (wanted.out / "meaning.svg").write_text(meaning_plot(found), encoding="utf-8")
    told = json.dumps(found.summary(), indent=2) + "\n"
    (wanted.out / "diversity.json").write_text(told, encoding="utf-8")
    subjects = " ".join(f"--subject zoo:{each.name}" for each in who)
    _print_text(console, f"\nPlots and numbers: completion.svg, meaning.svg, diversity.json in {wanted.out}.")
    _print_text(console, f"Look inside: innerview serve {study} {subjects}")


def candidates(console: Console, wanted: Options) -> list[Candidate]:
    """The zoo's agents with what they complete; trained here where they are missing and that was asked for."""
    import innerview_zoo as zoo
    from innerview_zoo.diversity.experiment import Candidate
    from innerview_zoo.models.platformer import adapt
    from innerview_zoo.models.platformer.score import FAMILY, weights_of

    found = []
    for member in FAMILY:
        weights, bundled = weights_of(member.name), True
        if not weights.exists():
            weights, bundled = _trained(member, wanted), False
        if not weights.exists():
            _print_text(console, f"'{member.name}' has no weights and is left out; --train trains it.")
            continue
        subject, _ = zoo.load(member.name) if bundled else adapt(weights, name=member.name)
        subject.module.to(wanted.device)
        own, unseen = _completed(member, weights, wanted, kept=bundled)
        found.append(Candidate(name=member.name, levels=member.levels, subject=subject, unseen=unseen, own=own))
    if len(found) < 2:
        raise InnerviewError("Fewer than two platformer agents have weights. Train them: innerview diversity --train")
    return found


def _trained(member: Member, wanted: Options) -> Path:
    """Weights from a run of the family's script, a new one where that is wanted; the file may not be there."""
    from innerview_zoo import entry
    from innerview_zoo.commands.training import run_training

    folder = wanted.out / f"{member.name}-run"
    weights = folder / "weights.safetensors"
    if wanted.train and not weights.exists():
        begun = folder if folder.is_dir() and any(folder.iterdir()) else None
        code = run_training(entry(member.name), out=folder, resume=begun, minutes=wanted.minutes, others=())
        if code:
            raise InnerviewError(f"Training '{member.name}' ended with code {code}; the same command goes on with it.")
    return weights


def _completed(member: Member, weights: Path, wanted: Options, *, kept: bool) -> tuple[Figure | None, Figure]:
    """Own levels and unseen ones: what the card claims, or played now."""
    from innerview.jobs.terminal import bar
    from innerview_zoo import entry
    from innerview_zoo.models.platformer.score import load_agent, score

    if kept and wanted.levels is None and entry(member.name).evaluated:
        figures = entry(member.name).figures
        return (figures.others[0] if figures.others else None), figures.main
    agent = load_agent(weights, wanted.device)
    with bar(True, f"{member.name}: completion", "levels") as progress:
        scored = score(member, agent, count=wanted.levels or 1000, device=wanted.device, progress=progress)
    unseen, *own = scored.figures()
    return (own[0] if own else None), unseen


def show(console: Console, found: Diversity, wanted: Options) -> None:
    """The table, ours beside the paper's, and what it says about the hypothesis."""
    lines = Lines(box=None, header_style="dim", padding=(0, 2, 0, 0), title_justify="left")
    lines.title = f"Agents by the number of levels they were trained on; factors at '{found.seen[0].layer}'"
    for title in ("trained on", "own, %", "paper", "unseen, %", "paper", "meaningful, %", "paper", "score", "factors"):
        lines.add_column(title, justify="left" if title in ("trained on", "factors") else "right", overflow="fold")
    for each in found.seen:
        lines.add_row(*_row(each))
    console.print(lines)
    many = wanted.fits * len(found.seen[0].names[0])
    _print_text(
        console,
        f"Levels completed and meaningful factors of {many} with 95 % intervals (Wilson). Meaningful: a factor "
        "responds to one class of the world's masks clearly more than by chance, in most levels; score: how far beyond "
        "chance, from 0 to 1. The paper's: means over two agents; for features over two people and two agents, ± one "
        "standard deviation (footnote 10).",
    )
    left = f" Factors that mean {', '.join(wanted.without)} do not count." if wanted.without else ""
    _print_text(
        console,
        f"\nSpearman with the number of levels: {_rank(found.rises)} for the share of meaningful factors, "
        f"{_rank(found.kinds_rise)} for how many different things they mean, {_rank(found.score_rises)} for the mean "
        f"score, {_rank(found.generalises)} for unseen levels completed.{left}",
    )


def _row(each: Seen) -> Sequence[str]:
    from innerview_zoo.models.platformer.published import UNLIMITED_UNSEEN, published

    theirs = published(each.candidate.levels)
    unseen = f"{UNLIMITED_UNSEEN:.2f}" if each.candidate.levels is None else "–"
    counted = Counter(name or "(unclear)" for fit in each.names for name in fit)
    named = ", ".join(f"{name} {count}" if count > 1 else name for name, count in counted.most_common())
    return (
        each.candidate.called,
        "–" if each.candidate.own is None else _figure(each.candidate.own),
        "–" if theirs is None else f"{sum(theirs.own) / 2:.2f}",
        _figure(each.candidate.unseen),
        unseen if theirs is None else f"{sum(theirs.unseen) / 2:.2f}",
        _figure(each.meaningful, digits=0),
        "–" if theirs is None else f"{theirs.interpretable_mean:.0f} ± {theirs.interpretable_spread:.0f}",
        f"{each.score:.2f}",
        named,
    )


def _figure(figure: Figure, digits: int = 2) -> str:
    return f"{figure.value:.{digits}f} ({figure.low:.{digits}f}–{figure.high:.{digits}f})"


def _rank(value: float | None) -> str:
    return "not defined (too few, or all the same)" if value is None else f"{value:.2f}"


def _print_text(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
