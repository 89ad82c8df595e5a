"""`innerview zoo`: the bundled models listed, shown, trained and evaluated."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from typer.core import TyperGroup

from innerview.errors import InnerviewError

if TYPE_CHECKING:  # the zoo brings torch along, which other commands need not wait for
    from innerview_zoo import Entry
    from innerview_zoo.report import Figure, Report

SHOW = "show"


class _Zoo(TyperGroup):
    """Takes the first word for a model where it names no command, so that `innerview zoo NAME` shows its card."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = [SHOW, *args]
        return super().parse_args(ctx, args)


zoo = typer.Typer(
    cls=_Zoo,
    help="Trained models that come along: list them, show a card, train one anew, evaluate one.\n\n"
    "Examples: `innerview zoo`, `innerview zoo show doom_kitems`, `innerview zoo evaluate doom_kitems --count 20`",
    invoke_without_command=True,
    rich_markup_mode="markdown",
)
Name = Annotated[str, typer.Argument(help="The model; `innerview zoo list` names them.")]


@zoo.callback()
def begin(ctx: typer.Context) -> None:
    """Without a command, list what there is."""
    if ctx.invoked_subcommand is None:
        list_models()


@zoo.command("list")
def list_models() -> None:
    """List the bundled models and what they score.

    Example: `innerview zoo list`
    """
    from innerview_zoo import entries

    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for title in ("name", "what it is", "scores", "weights"):
        table.add_column(title, overflow="fold", justify="right" if title == "weights" else "left")
    for each in entries():
        table.add_row(each.name, each.title, _scores(each), _megabytes(each.weight_bytes))
    console = Console()
    console.print(table)
    console.print("\nRecord one: innerview record my.study --subject zoo:NAME", highlight=False, markup=False)


@zoo.command(SHOW)
def show(name: Name) -> None:
    """Show a model's card: its task, its network, how it was trained, what it scores and where it fails.

    Example: `innerview zoo show doom_kitems`
    """
    from innerview_zoo import entry

    console, model = Console(), entry(name)
    console.print(Markdown(model.card))
    console.print(f"\nFolder: {model.folder} ({_megabytes(model.weight_bytes)} of weights)", markup=False)


@zoo.command("evaluate")
def evaluate_models(
    name: Annotated[str | None, typer.Argument(help="The model; or give --family.")] = None,
    count: Annotated[int | None, typer.Option(help="Over so many episodes, levels or images; as the card's.")] = None,
    family: Annotated[str | None, typer.Option(help="All models of a family: doom, platformer, atari, office.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print numbers for programs.")] = False,
) -> None:
    """Work out the card's table anew, with 95 % confidence intervals. Exits with 1 if the card's figure is missed.

    The card's main figure is reproduced where its interval and the new one overlap.

    Examples:

        innerview zoo evaluate doom_health --count 20

        innerview zoo evaluate --family platformer
    """
    from innerview.jobs.terminal import bar
    from innerview_zoo import entry, evaluate, evaluate_family

    if (name is None) == (family is None):
        raise InnerviewError("Say what to evaluate: a model's name, or --family NAME for all models of a family.")
    with bar(True, name or f"family {family}", "") as progress:
        if family is not None:
            reports = evaluate_family(family, count, progress)
        else:
            reports = (evaluate(str(name), count, progress),)
    card = entry(name).figures.main if name is not None else None
    same = card is None or reports[0].main.agrees_with(card)
    if as_json:
        _print_json(reports, card, same)
    else:
        _print_tables(reports, card, same)
    if not same:
        raise typer.Exit(1)


def _print_tables(reports: tuple[Report, ...], card: Figure | None, same: bool) -> None:
    console = Console()
    for report in reports:
        table = Table(title=report.title, title_justify="left", header_style="dim", box=None, padding=(0, 2, 0, 0))
        for title in report.head:
            table.add_column(title, overflow="fold")
        for row in report.rows:
            table.add_row(*row)
        console.print(table)
    if card is None:
        return
    now = reports[0].main
    console.print(f"\n{now.name}: {now}, over {now.count:,}; {now.how}", markup=False, highlight=False)
    console.print(f"the card says {card}, over {card.count:,}", markup=False, highlight=False)
    console.print(
        "[green]reproduced[/]: the intervals overlap" if same else "[red]not reproduced[/]: they do not overlap"
    )


def _print_json(reports: tuple[Report, ...], card: Figure | None, same: bool) -> None:
    told: dict[str, Any] = {"reports": [asdict(report) for report in reports]}
    if card is not None:
        told |= {"card": asdict(card), "reproduced": same}
    typer.echo(json.dumps(told, ensure_ascii=False, indent=2))


@zoo.command("train", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def train(
    ctx: typer.Context,
    name: Name,
    out: Annotated[Path | None, typer.Option(help="Folder for checkpoints and curve; NAME-run if not said.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Folder of an earlier training to go on with.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop after so many minutes.")] = None,
) -> None:
    """Train a model anew with the script in its folder. Ctrl-C ends it; --resume goes on from its checkpoint.

    Other options are handed to the script; `innerview zoo train NAME -- --help` shows those it knows.

    Examples:

        innerview zoo train doom_health --minutes 25

        innerview zoo train doom_health --resume doom_health-run --out doom_health-run --minutes 25
    """
    from innerview_zoo import entry
    from innerview_zoo.commands.training import run_training

    code = run_training(entry(name), out=out, resume=resume, minutes=minutes, others=ctx.args)
    if code:
        raise typer.Exit(code)


@zoo.command("pairs")
def pairs(
    study: Annotated[Path, typer.Argument(help="The study; made where there is none.")],
    count: Annotated[int, typer.Option(min=1, help="How many poses.")] = 200,
    name: Annotated[str, typer.Option(help="Of the recording.")] = "office",
    which: Annotated[str, typer.Option(help="Trajectory 1 or 2, or anywhere.")] = "1",
    gap: Annotated[
        list[str] | None, typer.Option(help="A gap that the stand-in has; may be repeated. All unless said.")
    ] = None,
    size: Annotated[int, typer.Option(min=8, help="Pixels along a side; the pose networks take 256.")] = 256,
    seed: Annotated[int, typer.Option(help="Of poses anywhere.")] = 0,
    device: Annotated[str, typer.Option(help="Where pictures are rendered, as in cuda.")] = "cpu",
) -> None:
    """Render paired pictures of the office, simulated and as in the stand-in for reality, as a recording.

    Examples:

        innerview zoo pairs my.study --count 200

        innerview zoo pairs my.study --name light --which anywhere --gap light --gap white_balance
    """
    from innerview_zoo import office_pairs

    made = office_pairs(
        study,
        count,
        name=name,
        which=int(which) if which in ("1", "2") else which,
        gaps=gap or None,
        size=size,
        seed=seed,
        device=device,
    )
    Console().print(f"{count:,} pairs in '{made}'. Look: innerview serve {study}", markup=False, highlight=False)


@zoo.command("blame")
def blame(
    name: Name,
    count: Annotated[int, typer.Option(min=2, help="Pictures of the trajectory.")] = 40,
    month: Annotated[int, typer.Option(min=1, max=2, help="Of the stand-in for reality.")] = 1,
) -> None:
    """Say which of the stand-in's gaps costs an office network how much: each is switched on alone, and off alone.

    Example: `innerview zoo blame office_vanilla --count 40`
    """
    from innerview_zoo import load
    from innerview_zoo.models.office.blame import blame as blamed

    if not name.startswith("office_"):
        raise typer.BadParameter(f"'{name}' is no office network: only the office has gaps that can be switched.")
    found, console = blamed(load(name)[0], count=count, month=month), Console()
    shown = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    titles = [axis for axis in found.columns if axis.name not in ("from", "to")]
    for axis in titles:
        shown.add_column(f"{axis.name} ({axis.unit})" if axis.unit else axis.name, overflow="fold")
    for line in found.lines:
        cells = (f"{line[i]:.2f} ({line[i + 1]:.2f}–{line[i + 2]:.2f})" for i in range(1, len(line), 3))
        shown.add_row(str(line[0]), *cells)
    gap = found.value["gap"]
    console.print(shown)
    console.print(
        f"The gap: {gap['value']:.2f} m ({gap['low']:.2f}–{gap['high']:.2f}), {count} pictures.", highlight=False
    )


@zoo.command("cases")
def cases(
    study: Annotated[Path, typer.Argument(help="The study; made where there is none.")],
    out: Annotated[Path, typer.Option(help="The page, in Markdown.")] = Path("cases-transfer.md"),
    count: Annotated[int, typer.Option(min=8, help="How many pairs of each trajectory.")] = 200,
) -> None:
    """Measure the case studies of Sim2RealViz on the office with the zoo's pose networks, and write them as a page.

    Example: `innerview zoo cases office.study --out cases-transfer.md`
    """
    from innerview.store import Study
    from innerview_zoo.pairs.cases import write

    written = write(Study.open_or_create(study), out, count=count)
    Console().print(f"Wrote {written}.", markup=False, highlight=False, soft_wrap=True)


def _scores(model: Entry) -> str:
    if not model.evaluated:
        return "not evaluated yet"
    main = model.figures.main
    return f"{main.name} {main}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
