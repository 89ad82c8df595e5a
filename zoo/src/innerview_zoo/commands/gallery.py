"""What the command of the gallery takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from innerview_zoo.gallery import command


def gallery(
    out: Annotated[Path, typer.Option(help="Folder for the page and the study behind it.")] = command.WHERE,
) -> None:
    """Where do Atari agents look? The paper's tables of methods, streams, frames and ages, made with the zoo's agents.

    Records an episode of each agent, computes six methods of attribution, measures what the paper claims of them and
    writes one page that opens from a file. The same command again goes on where it was interrupted.

    Examples:

        innerview gallery

        innerview gallery --out where
    """
    command.run(out)
