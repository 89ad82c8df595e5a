"""What the command of the diversity experiment takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from innerview_zoo.diversity import command as commands


def diversity(
    out: Annotated[Path, typer.Option(help="Folder for plots, numbers and the study.")] = commands.WHERE,
    study: Annotated[Path | None, typer.Option(help="Where recordings and factors are saved, if not there.")] = None,
    levels: Annotated[
        int | None, typer.Option(min=1, help="Measure completion anew over so many levels; else the cards' figures.")
    ] = None,
    episodes: Annotated[
        int, typer.Option(min=1, help="How many unseen levels to record and find factors in, the same for each agent.")
    ] = commands.LEVELS_TO_LOOK_AT,
    layer: Annotated[str, typer.Option(help="A convolution; the middle one unless said.")] = "",
    target: Annotated[str, typer.Option(help="What attributions are to: value, or an action of the policy.")] = "value",
    count: Annotated[int, typer.Option(min=1, help="How many factors.")] = 8,
    fits: Annotated[int, typer.Option(min=1, help="Find factors so often, each time from another beginning.")] = 1,
    without: Annotated[
        list[str] | None, typer.Option(help="Do not count factors that mean this class of things; may be repeated.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any other parameter of the lens factors, as in of=activations.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Find factors anew, also where the study has them.")] = False,
    train: Annotated[bool, typer.Option("--train", help="Train agents that have no weights; wants a GPU.")] = False,
    minutes: Annotated[float, typer.Option(help="How long to train each.")] = commands.TRAIN_MINUTES,
    device: Annotated[str, typer.Option(help="Where agents run, as in cuda.")] = "cpu",
) -> None:
    """Do agents that know more levels see more clearly? The paper's diversity experiment, with the zoo's platformer.

    Records the same unseen levels with each agent, finds factors of attribution, compares them with the world's masks,
    prints a table with the paper's figures beside ours and draws its two plots. The same command again goes on where
    it was interrupted.

    Examples:

        innerview diversity

        innerview diversity --levels 1000 --fits 3 --out plots

        innerview diversity --without velocity
    """
    from innerview.cli.lenses import parameters_of
    from innerview.features.factors import LENS

    parameters = {"layer": layer, "target": target, "count": count, **parameters_of(LENS, set_ or [])}
    commands.run(
        commands.Options(
            out=out,
            study=study,
            levels=levels,
            episodes=episodes,
            fits=fits,
            parameters=parameters,
            without=tuple(without or ()),
            again=again,
            train=train,
            minutes=minutes,
            device=device,
        )
    )
