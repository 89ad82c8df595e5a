"""`innerview train`: networks of the zoo trained on people's own data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:  # the zoo brings torch along, which other commands need not wait for
    from innerview_zoo.pairs.training import TrainedPose

train = typer.Typer(
    help="Train one of the zoo's networks on your own data.\n\nExample: `innerview train pose images/ --out run`",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@train.callback()
def begin() -> None:
    """Commands of its own, even while there is only one."""


@train.command("pose")
def pose(
    data: Annotated[Path, typer.Argument(help="A study, or a folder or manifest of images as for `innerview import`.")],
    out: Annotated[Path, typer.Option(help="Folder for weights, card, curve and model.py; new.")],
    variant: Annotated[str, typer.Option(help="vanilla, augmented, perlin or finetuned.")] = "vanilla",
    recording: Annotated[str | None, typer.Option(help="Of a study: which recording.")] = None,
    domain: Annotated[str | None, typer.Option(help="Whose images it learns from; the only one unless said.")] = None,
    tune: Annotated[str | None, typer.Option(help="Of finetuned: the domain it learns from besides.")] = None,
    start: Annotated[Path | None, typer.Option(help="Weights to begin with, or --out of an earlier training.")] = None,
    minutes: Annotated[float, typer.Option(help="How long to train.")] = 10.0,
    steps: Annotated[int | None, typer.Option(help="So many batches instead.")] = None,
    batch: Annotated[int, typer.Option(help="Images a batch.")] = 32,
    images: Annotated[int, typer.Option(help="At most so many of each domain; each takes 256 kB of memory.")] = 4000,
    depth: Annotated[float, typer.Option(help="Metres at which depth is 1.")] = 10.0,
    unit: Annotated[
        list[str] | None, typer.Option(help="KIND=UNIT of images or COLUMN=UNIT: depth=mm, angle=deg; may be repeated.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where it is trained, as in cuda.")] = "cpu",
    seed: Annotated[int, typer.Option(help="Of weights, order and held-out rows.")] = 0,
) -> None:
    """Train Sim2RealViz's pose network: RGB-D in, x, y and heading out. Ctrl-C ends it and saves what there is.

    Examples:

        innerview train pose images/ --out vanilla --minutes 30 --unit depth=mm

        innerview train pose my.study --recording office --domain sim --variant augmented --out augmented

        innerview train pose my.study --domain sim --variant finetuned --start vanilla --tune real --out finetuned

        innerview predict my.study --subject vanilla/model.py:make --input rgbd=real
    """
    from innerview.cli.look import only_recording
    from innerview.jobs.terminal import bar
    from innerview.store import Study
    from innerview_zoo import PoseTraining, train_pose

    training = PoseTraining(
        variant=variant,
        domain=domain,
        tuned_on=tune,
        start=start,
        steps=steps,
        minutes=minutes,
        batch=batch,
        images=images,
        depth_m=depth,
        device=device,
        seed=seed,
    )
    is_study = (data / "study.json").is_file()
    source = only_recording(Study.open(data), recording) if is_study else data
    units = {kind: of for kind, _, of in (text.partition("=") for text in unit or ())}
    with bar(True, f"training {variant}", "") as progress:
        made = train_pose(source, out, training, units=units, progress=progress)
    _print_trained(made)


def _print_trained(made: TrainedPose) -> None:
    console = Console()
    for where, told in made.held_out.items():
        line = f"Held-out rows{f' of {where}' if where else ''}: {told[0].name} {told[0]}, {told[2].name} {told[2]}."
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    steps = f"{made.steps:,} step{'' if made.steps == 1 else 's'}"
    words = f"{steps}; it takes {made.binding}. Use it: --subject {made.folder / 'model.py'}:make"
    console.print(words, markup=False, highlight=False, soft_wrap=True)
