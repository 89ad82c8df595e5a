"""The commands and what they take; each one's --help shows how it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from innerview.cli import lenses, look, make, predict, trust
from innerview.cli.ablation import arguments as ablation
from innerview.cli.reductions import arguments as reductions
from innerview.cli.rows import Inputs, Other, Rows, bound, ranges
from innerview.cli.training import learning
from innerview.cli.transfer import camera, filters, gap
from innerview.errors import InnerviewError
from innerview.lenses.video.job import VideoJob
from innerview.registry import load_plugins
from innerview.store import VIDEOS, ImportOptions

app = typer.Typer(
    help="innerview opens up neural agents that see.\n\nBegin with: innerview demo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

StudyPath = Annotated[Path, typer.Argument(help="The study's folder.")]
RecordingName = Annotated[str | None, typer.Argument(help="A recording; the only one where there is one.")]
ImportFormat = Annotated[
    str | None,
    typer.Option(help="drlviz, memred, npz, table, pairs, manifest, sim2realviz or tum; else found by looking."),
]
Port = Annotated[int, typer.Option(help="Port on loopback; 0 takes a free one.")]
Maps = Annotated[
    list[str] | None,
    typer.Option(
        help='A map beside the picture of a video: a method, with what it is asked: "gradcam | target=value | '
        'layer=conv2 | frame=1"; or result=ID. May be repeated.'
    ),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address instead of opening a browser.")]


@app.command()
def record(
    study: StudyPath,
    subject: Annotated[
        str, typer.Option(help="zoo:NAME (zoo:NAME:SNAPSHOT), or FILE.py:FUNCTION that returns a subject.")
    ],
    world: Annotated[
        str | None,
        typer.Option(
            help="A Gymnasium id, doom:SCENARIO, atari:GAME, platformer, a .cfg, or FILE.py:FUNCTION; settings after a "
            "question mark, as in platformer?difficulty=3. The zoo knows its own."
        ),
    ] = None,
    episodes: Annotated[int, typer.Option(help="How many episodes.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the first episode; the next ones follow.")] = 0,
    name: Annotated[str | None, typer.Option(help="Name of the recording.")] = None,
    lanes: Annotated[int | None, typer.Option(help="Games side by side.")] = None,
    greedy: Annotated[bool, typer.Option("--greedy", help="The best action instead of a sampled one.")] = False,
    keep: Annotated[list[str] | None, typer.Option(help="A layer whose activations to save; may be repeated.")] = None,
    max_steps: Annotated[int | None, typer.Option(help="Cut episodes after so many steps.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the recording of that name.")] = False,
) -> None:
    """Record episodes into a study; the same command again continues an interrupted recording.

    With more --episodes it adds some. After training on it records a new version beside the old one, "NAME v2".

    Examples:

        innerview record my.study --subject zoo:doom_health --episodes 20

        innerview record my.study --subject agent.py:make --world CartPole-v1

        innerview record my.study --subject agent.py:make --world agent.py:world
    """
    make.record_episodes(
        study,
        subject,
        world,
        episodes=episodes,
        seed=seed,
        name=name,
        lanes=lanes,
        greedy=greedy,
        keep=tuple(keep or ()),
        max_steps=max_steps,
        overwrite=overwrite,
    )


@app.command("import")
def import_data(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="DRLViz or MemRed .json, an .npz, a .csv or .parquet whose columns may name images, or a folder of "
            "image pairs."
        ),
    ],
    study: Annotated[Path | None, typer.Option(help="The study's folder, which is made where it is not there.")] = None,
    format: ImportFormat = None,
    name: Annotated[str | None, typer.Option(help="Name of the recording; that of the first file unless said.")] = None,
    image: Annotated[
        list[str] | None,
        typer.Option(help="A column that names image files; COLUMN=DOMAIN or COLUMN=DOMAIN/KIND says its side."),
    ] = None,
    unit: Annotated[
        list[str] | None,
        typer.Option(help="KIND=UNIT of images, COLUMN=UNIT of a table: depth=mm, angle=deg; may be repeated."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(help="GROUP,TIME: columns that group rows and count them from 0; else episode,step if there."),
    ] = None,
    action: Annotated[
        list[str] | None, typer.Option(help="Name of an action, in the order of the probabilities; may be repeated.")
    ] = None,
    width: Annotated[int, typer.Option(help="Pictures in JSON are made at most so wide; 0 keeps every pixel.")] = 0,
) -> None:
    """Bring in data that was recorded elsewhere: episodes of agents, rollouts, or rows with pictures and no time.

    Several .json files are episodes of one recording. What cannot be read is named, and nothing of it is kept.

    Sets of images come as a manifest with a line an image, with Sim2RealViz's names and match.csv, as TUM RGB-D, or as
    a folder of pairs, with a row for each name that all its folders have; what may lie in it (see docs/imports.md):

        pairs/sim/rgb/0001.jpg, pairs/real/rgb/0001.jpg, pairs/sim/depth/0001.png

        pairs/poses.csv     name, x [m], y [m], angle [deg]

        pairs/map.png       the ground

        pairs/pairs.json    {"units": {"depth": "mm"}, "map": {…}, "polygons": {…}, …}

    Examples:

        innerview import episode*.json --study my.study

        innerview import pairs/ --study my.study --unit depth=mm

        innerview import pairs.csv --study my.study --image sim_file=sim --image real_file=real

        innerview import manifest.csv --study my.study --unit angle=deg
    """
    units = {kind: of for kind, _, of in (text.partition("=") for text in unit or ())}
    options = ImportOptions(
        name=name, format=format, actions=action or (), width=width, units=units, ordering=make.ordering(order)
    )
    make.import_data(files, study=study, images=image or (), options=options)


@app.command()
def serve(
    study: StudyPath,
    port: Port = 0,
    no_browser: NoBrowser = False,
    subject: Annotated[
        list[str] | None, typer.Option(help="A live subject: zoo:NAME or FILE.py:FUNCTION; may be repeated.")
    ] = None,
    world: Annotated[
        list[str] | None,
        typer.Option(help="Where it plays, to record, test and roll out: as for record. The zoo knows its own."),
    ] = None,
    snapshots: Annotated[
        list[str] | None,
        typer.Option(help="A training run whose snapshots are live too, each as a subject; may be repeated."),
    ] = None,
    token: Annotated[bool, typer.Option("--token", help="Print a token for scripts as well.")] = False,
) -> None:
    """Open the workbench on a study.

    With a live subject the page can look inside it; with its world as well, it can play.

    Examples:

        innerview serve my.study

        innerview serve my.study --subject agent.py:make --world agent.py:world

        innerview serve my.study --subject agent.py:make --snapshots training
    """
    make.serve_study(
        study,
        port=port,
        open_browser=not no_browser,
        subjects=subject or (),
        worlds=world or (),
        snapshots=snapshots or (),
        show_token=token,
    )


@app.command()
def check(study: StudyPath) -> None:
    """Verify every file of a study and name what is damaged. Exits with 1 if anything is.

    Example: `innerview check my.study`
    """
    if not look.check(study):
        raise typer.Exit(1)


@app.command()
def sign(study: StudyPath) -> None:
    """Sign a study that you received and trust, so that it is decoded as fast as your own.

    A study that this user did not record on this machine is decoded in a process of its own, so that a file that was
    made to do harm ends that process and nothing else. Signing verifies every file first.

    Example: `innerview sign received.study`
    """
    look.sign(study)


@app.command()
def info(study: StudyPath, recording: RecordingName = None) -> None:
    """Tell what a study or a recording holds.

    Examples: `innerview info my.study`, `innerview info my.study "health agent"`
    """
    look.info(study, recording)


@app.command()
def export(
    study: StudyPath,
    out: Annotated[Path, typer.Argument(help="The file to write: .csv, .parquet, .npz, .mp4 or .gif.")],
    recording: Annotated[str | None, typer.Option(help="Which recording, where there are several.")] = None,
    episode: Annotated[str | None, typer.Option(help="One episode; videos need one where there are several.")] = None,
    array: Annotated[list[str] | None, typer.Option(help="An array for .npz or a video; may be repeated.")] = None,
    column: Annotated[list[str] | None, typer.Option(help="A column for .csv or .parquet; may be repeated.")] = None,
    scale: Annotated[int, typer.Option(min=0, help="Pixels per pixel in a video; as fits where not said.")] = 0,
    maps: Maps = None,
    subject: Annotated[
        list[str] | None,
        typer.Option(help="Makes the maps that are not stored: zoo:NAME or FILE.py:FUNCTION; may be repeated."),
    ] = None,
    rows: Rows = None,
    input: Inputs = None,
    normalise: Annotated[
        str, typer.Option(help="Full colour is the strongest pixel of the episode, or of each frame.")
    ] = VideoJob.normalise,
    signs: Annotated[str, typer.Option(help="Colours of a sign: blue and orange, or green and red.")] = VideoJob.signs,
    gain: Annotated[float, typer.Option(help="Full colour for heat that is so many times fainter.")] = VideoJob.gain,
    columns: Annotated[int, typer.Option(help="Panels side by side; as fits where 0.")] = VideoJob.columns,
    other: Other = False,
) -> None:
    """Write rows, arrays or a video of an episode to a file.

    Examples:

        innerview export my.study steps.csv --column step --column health

        innerview export my.study episode.mp4 --episode 3

        innerview export my.study maps.mp4 --episode 3 --maps guided --maps "gradcam | target=value" --subject zoo:NAME
    """
    if out.suffix.lower() not in VIDEOS:
        if maps:
            raise InnerviewError(f"Maps are drawn into videos: give a file that ends in {' or '.join(VIDEOS)}.")
        look.export(study, out, recording=recording, episode=episode, arrays=array or None, columns=column or None)
        return
    lenses.export_maps(
        study,
        out,
        recording,
        maps or (),
        subject=subject or (),
        episode=episode,
        array=array[0] if array else "",
        rows=ranges(rows),
        inputs=bound(input),
        normalise=normalise,
        signs=signs,
        gain=gain,
        columns=columns,
        scale=scale,
        other=other,
    )


COMMANDS = (
    *(
        predict.predict,
        *lenses.COMMANDS,
        *learning.COMMANDS,
        *trust.COMMANDS,
        *gap.COMMANDS,
        *filters.COMMANDS,
        *camera.COMMANDS,
    ),
    *(*reductions.COMMANDS, *ablation.COMMANDS),
)
for command in COMMANDS:
    app.command()(command)
for name, added in load_plugins("commands").items():
    if isinstance(added, typer.Typer):
        app.add_typer(added, name=name)
    else:
        app.command(name)(added)
