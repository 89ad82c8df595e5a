"""`innerview demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    study: Annotated[Path, typer.Option(help="Where the demo study is saved.")] = Path(".innerview/demo.study"),
    port: Annotated[int, typer.Option(help="Port on loopback; 0 takes a free one.")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address instead of opening a browser.")
    ] = False,
    episodes: Annotated[
        int | None, typer.Option(min=1, help="How many episodes of each agent to record on the first start.")
    ] = None,
) -> None:
    """Record trained agents on the first start, then open the workbench on them.

    Example: `innerview demo --no-browser --port 8080`
    """
    from innerview.cli.make import open_workbench
    from innerview_zoo.demo import make_demo

    made, subjects, worlds = make_demo(study, episodes=episodes)
    open_workbench(made, port, not no_browser, subjects, worlds)
