"""Ablates a class of things from a subject and runs the ablation test, from levels to a table."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Lines

from innerview.cli.make import load_subject, load_world, serving
from innerview.cli.outputs import print_other
from innerview.errors import InnerviewError, UnknownName
from innerview.jobs.recorded import differences
from innerview.schema import RolledOutFrom
from innerview.store import Edited, Recording, Study, weights_file

if TYPE_CHECKING:
    from innerview.schema import Result, WorldInfo

LEVELS_TO_LOOK_AT = 48
SEEDS_APART = 10_000_000
"""Levels that factors are found in lie so many seeds beyond those of the ablation test."""
RECORDING = "levels to look at"
_BAR = 24


@dataclass(frozen=True, kw_only=True)
class FactorChoice:
    """Which factors to ablate: of a class, or by number as the page counts them, from 1."""

    to: str = ""
    numbers: Sequence[int] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Of the lens that finds factors: layer, target, count and so on."""
    name: str | None = None

    def __post_init__(self) -> None:
        if not self.to and not self.numbers:
            raise InnerviewError("Say what to ablate: --to CLASS, or --factor NUMBER (may be repeated).")


@dataclass(frozen=True, kw_only=True)
class Trials:
    """How the ablation test is played."""

    levels: int
    controls: int
    invisible: str | None
    seed: int | None
    lanes: int | None


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What the command works with."""

    study: Study
    subject: Any
    world: Any
    recording: Recording
    called: str
    """The subject as it was asked for."""
    played_in: str | None = None
    """The world as it was asked for."""
    other: bool = False
    """Go on with another subject or world than was recorded."""


def bench(
    target: str,
    *,
    study: Path | None,
    world: str | None,
    recording: str | None,
    episodes: int,
    device: str | None,
    to: str = "",
    other: bool = False,
) -> Bench:
    """The subject in its world, and a recording to find factors in: one of the study's, or a new one."""
    from innerview.store.paths import plain_name
    from innerview.worlds.crowds import MaskProvider

    subject, own = load_subject(target)
    played = load_world(world) if world else own
    if played is None:
        raise InnerviewError(
            f"Say where '{target}' plays with --world: platformer, a Gymnasium id or FILE.py:FUNCTION."
        )
    if not any(spec.role == "mask" for spec in played.info.observations) and isinstance(played, MaskProvider):
        played = played.with_masks()
    if to and not recording:
        _check_class(played.info, to)
    if device:
        _to_device(subject, device)
    opened = Study.open_or_create(study or Path(".innerview") / f"{plain_name(subject.info.name)}.study")
    found = opened.recording(recording) if recording else _recorded(opened, subject, played, episodes)
    return Bench(
        study=opened, subject=subject, world=played, recording=found, called=target, played_in=world, other=other
    )


def run(chosen: Bench, wanted: FactorChoice, trials: Trials, *, out: Path | None) -> None:
    """Find factors, ablate them, play and print."""
    from innerview.interventions.ablation import choose, find_factors, make_ablated, name_of
    from innerview.interventions.ablation_test import ablation_test
    from innerview.lenses.look import look

    _check_invisible(chosen, trials)
    found = look(
        chosen.study, "factors", chosen.recording.name, subject=chosen.subject, other=chosen.other, **wanted.parameters
    )
    console = Console()
    _check_numbers(wanted.numbers, len(found.value["factors"]))
    named = [place for place, factor in enumerate(found.value["factors"]) if wanted.to and name_of(factor) == wanted.to]
    places = [number - 1 for number in wanted.numbers] or named
    show_factors(console, found, places)
    choice = choose(chosen.study, found.id, places or find_factors(found, wanted.to))
    edited = make_ablated(chosen.study, chosen.subject, choice, name=wanted.name)
    numbers = ", ".join(str(factor.index + 1) for factor in choice.factors)
    _print_text(console, f"'{edited.name}': factor {numbers} projected out of the kernel of '{edited.last.after}'.\n")
    hidden = _invisible(chosen, wanted, trials)
    if wanted.to and trials.invisible is None and not hidden:
        _print_text(console, f"World '{chosen.world.info.name}' cannot hide '{wanted.to}': no run has it invisible.\n")
    result = ablation_test(
        chosen.study,
        edited.name,
        chosen.subject,
        chosen.world,
        recording=chosen.recording.name,
        levels=trials.levels,
        seed=trials.seed,
        controls=trials.controls,
        invisible=hidden,
        lanes=trials.lanes,
        other=chosen.other,
    )
    print_other(console, result.arguments)
    print_ablation_test(console, result.value, wanted.to)
    _where(console, chosen, edited, result, found, out)


def show_factors(console: Console, found: Result, chosen: Sequence[int]) -> None:
    """What each factor means, and how much of all attribution it carries."""
    value = found.value
    lines = Lines(box=None, header_style="dim", title_justify="left")
    lines.title = (
        f"{len(value['factors'])} factors of {value['of']} to '{value['target']}' at '{value['layer']}' explain "
        f"{value['explained']:.0%}"
    )
    for title in ("factor", "share", "means", "beyond chance", "nearest"):
        lines.add_column(title, justify="left" if title in ("means", "nearest") else "right")
    for place, factor in enumerate(value["factors"]):
        meaning = factor.get("meaning") or {}
        best: Mapping[str, Any] = next(iter(meaning.get("classes", ())), {})
        mark = "→ " if place in chosen else ""
        score = f"{best['excess']:.2f}" if best else ""
        nearest = "" if meaning.get("name") else str(best.get("class", ""))
        lines.add_row(f"{mark}{place + 1}", f"{factor['share']:.0%}", str(meaning.get("name", "")), score, nearest)
    console.print(lines)


def print_ablation_test(console: Console, value: Mapping[str, Any], to: str = "") -> None:
    """The table: a column for each player, a line for each way to end."""
    from innerview.edits.ablation_test import levels_of, verdict

    compared = {(each["arm"], each["cause"]): each for each in value["compared"]}
    lines = Lines(box=None, header_style="dim", title=_title(value), title_justify="left", padding=(0, 2, 0, 0))
    lines.add_column("")
    for arm in value["arms"]:
        short = f"without {to}" if to and arm["kind"] == "ablated" else arm["name"]
        lines.add_column(short, justify="right", max_width=_BAR)
    for place, cause in enumerate(value["causes"]):
        shares = [arm["causes"][place] for arm in value["arms"]]
        if place and not any(share["count"] for share in shares):
            continue
        told = [_cell(s, compared.get((a["name"], cause))) for a, s in zip(value["arms"], shares, strict=True)]
        lines.add_row(f"ended: {cause}", *told)
    lines.add_row("return", *(_earned(arm["return"]) for arm in value["arms"]))
    lines.add_row("steps", *(f"{arm['steps']:.1f}" for arm in value["arms"]))
    console.print(lines)
    _print_text(
        console, "Shares (Wilson) and mean returns with 95 % intervals. *: apart from the original's beyond both."
    )
    said = verdict(value, to)
    if said:
        _print_text(console, said)
    seeds = levels_of(value, to)
    if seeds:
        _print_text(
            console, f"Some levels in which it ended so (look at them in the page): {', '.join(map(str, seeds))}."
        )


def _title(value: Mapping[str, Any]) -> str:
    return f"{value['done']:,} levels each, seeds from {value['seed']:,} on"


def _cell(share: Mapping[str, Any], compared: Mapping[str, Any] | None) -> str:
    from innerview.edits.ablation_test import often

    told = f"{share['share']:.2%} ({100 * share['low']:.2f}–{100 * share['high']:.2f})"
    if compared is None:
        return told
    times = f" {often(compared['times'])}×" if compared["times"] is not None else ""
    if compared["times"] is None and compared["low"] > 1:
        times = f" ≥ {often(compared['low'])}×"
    return f"{told}{times}{' *' if compared['apart'] else ''}"


def _earned(mean: Mapping[str, Any]) -> str:
    return f"{mean['mean']:.2f} ({mean['low']:.2f}–{mean['high']:.2f})"


def _where(console: Console, chosen: Bench, edited: Edited, tested: Result, found: Result, out: Path | None) -> None:
    study = chosen.study.path
    _print_text(
        console,
        f"\nIn {study}: subject '{edited.name}' (subjects/{edited.name}), test {tested.id}, factors {found.id} of "
        f"'{chosen.recording.name}'. Look at all of it with: {serving(study, chosen.called, chosen.played_in)}",
    )
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(weights_file(chosen.study, edited.name), out)
        _print_text(console, f"Weights written to {out}.")


def _recorded(study: Study, subject: Any, world: Any, episodes: int) -> Recording:
    """A recording of this subject in this world that tells masks, where the world does; made where there is none."""
    from innerview.rollouts.record import record
    from innerview.worlds.crowds import Known

    for title in study.recordings():
        there = study.recording(title)
        if there.complete and _looks_at(there, subject, world.info):
            return there
    fresh = world.fresh_seed if isinstance(world, Known) else None
    first = 0 if fresh is None else fresh + SEEDS_APART
    return record(study, subject, world, episodes=episodes, seeds=first, name=RECORDING)


def _looks_at(recording: Recording, subject: Any, world: WorldInfo) -> bool:
    """Whether this subject played it by itself, in this very world, and masks are told as now."""
    info, how = recording.info, recording.info.played
    seen, masks = (
        {spec.name for spec in arrays if spec.role == "mask"} for arrays in (info.arrays, world.observations)
    )
    own = how is not None and not how.edits and not isinstance(how.source, RolledOutFrom)
    return own and masks <= seen and not differences(info, subject=subject, world=world)


def _invisible(chosen: Bench, wanted: FactorChoice, trials: Trials) -> str:
    """What cannot be seen in one more run: what was asked for, else what was ablated, where that goes."""
    from innerview.worlds.crowds import Hiding

    if trials.invisible is not None:
        return trials.invisible
    can = isinstance(chosen.world, Hiding) and wanted.to in chosen.world.hidable
    return wanted.to if can else ""


def _check_class(world: WorldInfo, to: str) -> None:
    """Said at once rather than after minutes of recording."""
    mask = next((spec for spec in world.observations if spec.role == "mask"), None)
    if mask is None:
        raise InnerviewError(
            f"World '{world.name}' provides no masks, so nobody can say which factors mean '{to}'. Provide them "
            "with iv.world(…, masks=…), or choose factors by their numbers, as in --factor 1."
        )
    nothing, *things = mask.elements
    if to not in things:
        hint = f"'{nothing}' is what lies behind all things; no factor is named after it." if to == nothing else ""
        raise UnknownName("class of things", to, things, hint)


def _check_invisible(chosen: Bench, trials: Trials) -> None:
    """Said at once rather than after minutes of looking."""
    from innerview.worlds.crowds import hiding

    if trials.invisible:
        hiding(chosen.world, trials.invisible)


def _check_numbers(numbers: Sequence[int], count: int) -> None:
    for number in numbers:
        if not 1 <= number <= count:
            raise InnerviewError(f"Factors have numbers from 1 to {count}; --factor {number} is none of them.")


def _to_device(subject: Any, device: str) -> None:
    import torch

    try:
        subject.module.to(torch.device(device))
    except (RuntimeError, AssertionError) as error:
        raise InnerviewError(f"'{device}' cannot be used: {error}. Leave --device out to play where it is.") from error


def _print_text(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
