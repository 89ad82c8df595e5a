"""Turns arguments into calls. Nothing is computed here, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import sys

from rich.console import Console

from innerview.cli.app import app
from innerview.errors import InnerviewError

__all__ = ["app", "main"]


def main() -> None:
    """The command `innerview`: errors that innerview knows are told in red, without a traceback."""
    try:
        app(prog_name="innerview")
    except InnerviewError as error:
        console = Console(stderr=True)
        console.print("[bold red]Error[/]", end=" ")
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
