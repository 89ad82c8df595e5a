"""What the command `ablate` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from innerview.cli.ablation import commands
from innerview.cli.rows import Other
from innerview.interventions.jobs import AblationTestJob


def ablate(
    subject: Annotated[str, typer.Argument(help="zoo:NAME, or FILE.py:FUNCTION that returns a subject.")],
    to: Annotated[str, typer.Option(help="A class of things in the world's masks, such as saw.")] = "",
    layer: Annotated[
        str, typer.Option(help="Where factors are found: a convolution; the middle one unless said.")
    ] = "",
    target: Annotated[str, typer.Option(help="What attributions are to: value, or an action of the policy.")] = "value",
    count: Annotated[int, typer.Option(min=1, help="How many factors.")] = 8,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any other parameter of the lens factors, as in of=activations.")
    ] = None,
    factor: Annotated[
        list[int] | None, typer.Option(help="A factor by its number, from 1, whatever it means; may be repeated.")
    ] = None,
    levels: Annotated[int, typer.Option(min=1, help="How many levels each plays.")] = AblationTestJob.levels,
    controls: Annotated[
        int, typer.Option(min=0, help="How many random edits of the same kind play too.")
    ] = AblationTestJob.controls,
    invisible: Annotated[
        str | None, typer.Option(help="Class that cannot be seen in one more run; as --to unless said, '' for none.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="First level; such as nobody trained on unless said.")] = None,
    study: Annotated[Path | None, typer.Option(help="Where everything is saved.")] = None,
    world: Annotated[
        str | None, typer.Option(help="Where it plays, as in platformer?turning=false; the zoo knows its own.")
    ] = None,
    recording: Annotated[str | None, typer.Option(help="Find factors in this recording of the study.")] = None,
    episodes: Annotated[
        int, typer.Option(min=1, help="How many levels to record and find factors in, where the study has none.")
    ] = commands.LEVELS_TO_LOOK_AT,
    name: Annotated[str | None, typer.Option(help="Name of the ablated subject.")] = None,
    export: Annotated[Path | None, typer.Option(help="Write its weights to this .safetensors file as well.")] = None,
    lanes: Annotated[int | None, typer.Option(min=1, help="Games side by side.")] = None,
    device: Annotated[str | None, typer.Option(help="Move the subject there first, as in cuda.")] = None,
    other: Other = False,
) -> None:
    """Ablate a class of things from a subject, play many levels with and without, and print failures by cause.

    Records some levels where the study has none, finds factors of attribution at a layer, takes those that mean the
    class, projects them out of the next kernel (Understanding RL Vision, appendix A) and plays the same levels with
    the original, the ablated one, random directions instead, and the original with the class invisible. The same
    command again goes on where it was interrupted.

    Examples:

        innerview ablate zoo:platformer_disentangled --to saw --layer conv2b --count 12 --levels 1000

        innerview ablate zoo:platformer --layer conv2b --count 12 --factor 3 --factor 7 --export ablated.safetensors
    """
    from innerview.cli.lenses import parameters_of
    from innerview.features.factors import LENS

    parameters = {"layer": layer, "target": target, "count": count, **parameters_of(LENS, set_ or [])}
    wanted = commands.FactorChoice(to=to, numbers=factor or (), parameters=parameters, name=name)
    named = "" if factor else to
    chosen = commands.bench(
        subject, study=study, world=world, recording=recording, episodes=episodes, device=device, to=named, other=other
    )
    trials = commands.Trials(levels=levels, controls=controls, invisible=invisible, seed=seed, lanes=lanes)
    commands.run(chosen, wanted, trials, out=export)


COMMANDS = (ablate,)
