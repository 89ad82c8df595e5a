"""Run as a program: for every line on its input it forks a recorder, tells its process number, and then how it ended.

Forking saves importing torch fifty times. Nothing of torch has run before a fork.
"""

import os
import sys
from pathlib import Path

import innerview as iv
import innerview.rollouts.record
from innerview.testing.worlds import CountingWorld
from tests.rollouts.players import LONG, recurrent


def record(study: str) -> None:
    """Record, and leave a mark beside the study when the first row is about to be played."""

    def progress(done: int, total: int | None, message: str = "") -> None:
        Path(study).with_suffix(".begun").touch()

    iv.record(study, recurrent(), CountingWorld(), **{**LONG, "progress": progress})


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            record(line.strip())
            os._exit(0)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{status}\n")
        sys.stdout.flush()


main()
