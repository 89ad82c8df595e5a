"""What the command of the gallery takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WHERE = Path(".innerview/gallery")


def gallery(
    out: Annotated[Path, typer.Option(help="Folder for the page and the study behind it.")] = WHERE,
) -> None:
    """Where do Atari agents look? The paper's tables of methods, streams, frames and ages, made with the zoo's agents.

    Records an episode of each agent, computes six methods of attribution, measures what the paper claims of them and
    writes one page that opens from a file. The same command again goes on where it was interrupted.

    Examples:

        innerview gallery

        innerview gallery --out where
    """
    from innerview_zoo.gallery.command import run  # torch is loaded when a gallery is made, not with every command

    run(out)
