"""What the commands about reductions take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from innerview.cli.reductions import commands
from innerview.cli.rows import Other
from innerview.interventions.jobs import SmallestMemoryJob, SweepJob, TableJob

Target = Annotated[
    str,
    typer.Argument(
        help="A study's folder, or PACKAGE:NAME, as in zoo:doom_health, for an agent in a study of its own."
    ),
]
Where = Annotated[Path | None, typer.Option("--study", help="With zoo:NAME: where its study is saved.")]
Who = Annotated[str | None, typer.Option("--subject", help="Who plays: zoo:NAME, or FILE.py:FUNCTION.")]
In = Annotated[
    str | None,
    typer.Option("--world", help="Where: a Gymnasium id, doom:SCENARIO?SETTING=VALUE, .cfg or FILE.py:FUNCTION."),
]
Source = Annotated[str | None, typer.Option("--recording", help="What orders and sweeps are taken from.")]
Seed = Annotated[int | None, typer.Option(help="First seed that is played; beyond the recording's where not said.")]
Site = Annotated[str, typer.Option(help="Address of the memory, where the subject has several: lstm/c.")]


def reduce(
    target: Target,
    keep_half_by: Annotated[
        list[str] | None,
        typer.Option(help="Keep the first half by activation, change, stable, random…; may be repeated."),
    ] = None,
    keep: Annotated[list[str] | None, typer.Option(help="Keep the first so many, as in 64:activation.")] = None,
    zero: Annotated[list[str] | None, typer.Option(help="Elements to zero, as in 3,17,40-47.")] = None,
    reduction: Annotated[list[str] | None, typer.Option(help="A reduction saved in the study.")] = None,
    zero_all: Annotated[bool, typer.Option("--zero-all", help="Without any memory.")] = False,
    episodes: Annotated[int, typer.Option(help="Episodes for each line of the table.")] = TableJob.episodes,
    seed: Seed = None,
    site: Site = "",
    lanes: Annotated[int | None, typer.Option(help="Games side by side.")] = None,
    study: Where = None,
    subject: Who = None,
    world: In = None,
    recording: Source = None,
    other: Other = False,
) -> None:
    """Play the same seeds with full and with reduced memory, and print the table (DRLViz, table 4.3).

    Elements are ordered over a recording of other episodes than those that are played. Without a choice: half by
    activation, half by change, a random half, nothing. The same command again goes on where it was interrupted.

    Examples:

        innerview reduce zoo:doom_health --episodes 100 --keep-half-by activation

        innerview reduce my.study --subject agent.py:make --world CartPole-v1 --keep 8:change --zero 3,5-7
    """
    chosen = commands.players(
        target, study=study, subject=subject, world=world, recording=recording, seed=seed, other=other
    )
    wanted = commands.ReductionChoice(
        half_by=keep_half_by or (),
        keep=keep or (),
        zero=zero or (),
        named=reduction or (),
        nothing=zero_all,
        site=site,
    )
    commands.table(chosen, wanted, episodes=episodes, lanes=lanes)


def sweep(
    target: Target,
    over: Annotated[str, typer.Option(help="single or pairs.")] = SweepJob.over,
    by: Annotated[
        str, typer.Option(help="decisions (recorded observations run again) or episodes (played).")
    ] = SweepJob.by,
    elements: Annotated[str | None, typer.Option(help="Only these, as in 3,17,40-47.")] = None,
    measure: Annotated[str, typer.Option(help="By episodes: what a loss is counted in.")] = SweepJob.measure,
    episodes: Annotated[int, typer.Option(help="By episodes: how many for each.")] = SweepJob.episodes,
    rows: Annotated[int, typer.Option(help="By decisions: about how many.")] = SweepJob.rows,
    seed: Seed = None,
    site: Site = "",
    study: Where = None,
    subject: Who = None,
    world: In = None,
    recording: Source = None,
    other: Other = False,
) -> None:
    """Drop each element of the memory alone, or in pairs, and rank them by effect.

    Examples:

        innerview sweep zoo:doom_health --rows 1000

        innerview sweep my.study --subject agent.py:make --world CartPole-v1 --over pairs --elements 0-15
    """
    from innerview.edits import parse_elements

    chosen = commands.players(
        target, study=study, subject=subject, world=world, recording=recording, seed=seed, other=other
    )
    some = parse_elements(elements) if elements else ()
    commands.sweep_elements(
        chosen, over=over, by=by, elements=some, measure=measure, episodes=episodes, rows=rows, site=site
    )


def smallest_memory(
    target: Target,
    keep: Annotated[float, typer.Option(help="Share of the performance that must be left.")] = SmallestMemoryJob.keep,
    measure: Annotated[
        str, typer.Option(help="length, return, outcome, or any count of the table.")
    ] = SmallestMemoryJob.measure,
    outcome: Annotated[str, typer.Option(help="With --measure outcome: which.")] = "",
    episodes: Annotated[int, typer.Option(help="Episodes for each try.")] = SmallestMemoryJob.episodes,
    rows: Annotated[int, typer.Option(help="Recorded decisions that guide the search.")] = SmallestMemoryJob.rows,
    seed: Seed = None,
    site: Site = "",
    study: Where = None,
    subject: Who = None,
    world: In = None,
    recording: Source = None,
    other: Other = False,
) -> None:
    """Search for the fewest elements that keep the performance. The same command again goes on.

    Example: `innerview smallest-memory zoo:doom_health --keep 0.95 --episodes 20`
    """
    chosen = commands.players(
        target, study=study, subject=subject, world=world, recording=recording, seed=seed, other=other
    )
    commands.smallest(chosen, keep=keep, measure=measure, outcome=outcome, episodes=episodes, rows=rows, site=site)


def reductions(
    study: Annotated[Path, typer.Argument(help="The study's folder.")],
    export: Annotated[Path | None, typer.Option(help="Write them to this file.")] = None,
    source: Annotated[Path | None, typer.Option("--import", help="Add those of a file.")] = None,
    drop: Annotated[str | None, typer.Option(help="Forget the one of this name.")] = None,
) -> None:
    """List the reductions that a study keeps; write them to a file or add those of one.

    Examples: `innerview reductions my.study`, `innerview reductions my.study --export mine.json`
    """
    commands.list_reductions(study, out=export, source=source, drop=drop)


COMMANDS = (reduce, sweep, smallest_memory, reductions)
