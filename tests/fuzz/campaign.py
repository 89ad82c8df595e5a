"""Takes turns between files, requests, messages, expressions and imports until the time is up."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.fuzz.corpus import make_imports, make_study
from tests.fuzz.files import StudyFiles
from tests.fuzz.findings import Findings
from tests.fuzz.imports import Imports
from tests.fuzz.messages import Messages
from tests.fuzz.requests import Routes
from tests.fuzz.target import Died, Hung, Target

SHARES = {"files": 0.5, "routes": 0.2, "expressions": 0.06, "messages": 0.06, "imports": 0.18}
"""How the time is divided."""
SLICE_S = 2.0
MEND_EVERY = 50
"""So many slices, and the study is put in order and compared as a whole."""
SAID_EVERY_S = 60.0
MEMORY = Path("/dev/shm")
"""Where files cost no disk, if there is such a place."""


def run(
    folder: Path,
    findings: Findings,
    *,
    seconds: float,
    seed: int,
    say: Callable[[str], None] = lambda _: None,
    corpus: Path | None = None,
) -> int:
    """Try for so long; gives the most memory that was taken at a time."""
    random = Random(seed)
    pristine = corpus or folder / "corpus"
    if corpus is None:
        pristine.mkdir()
        make_study(pristine / "a.study")
        make_imports(pristine / "imports")
    for copy in ("damaged", "asked"):
        shutil.copytree(pristine / "a.study", folder / copy / "a.study")
    shutil.copytree(pristine / "imports", folder / "imports" / "given")
    read, asked = Target(folder / "damaged" / "a.study"), Target(folder / "asked" / "a.study")
    files = StudyFiles(read, random, findings)
    routes = Routes(asked, random, findings, pristine / "a.study")
    imports = Imports(read, random, findings, folder / "imports" / "given")
    messages = Messages(routes, random, findings)
    try:
        for each, target in ((files, read), (routes, asked)):
            target.start()
            each.learn()
        imports.learn()
        steps: dict[str, Callable[[], None]] = {
            "files": files.step,
            "routes": routes.step,
            "expressions": routes.expression,
            "messages": messages.step,
            "imports": imports.step,
        }
        _take_turns(steps, files, findings, random=random, ends=time.monotonic() + seconds, say=say)
        _guarded(files.mend, files, findings)
    finally:
        read.stop()
        asked.stop()
    return read.peak_bytes + asked.peak_bytes if corpus else max(read.peak_bytes, asked.peak_bytes)


def _take_turns(
    steps: dict[str, Callable[[], None]],
    files: StudyFiles,
    findings: Findings,
    *,
    random: Random,
    ends: float,
    say: Callable[[str], None],
) -> None:
    spent = dict.fromkeys(steps, 0.0)
    turns, said = 0, time.monotonic()
    while (now := time.monotonic()) < ends:
        name = min(steps, key=lambda each: spent[each] / SHARES[each])
        until = min(ends, now + SLICE_S)
        while time.monotonic() < until:
            steps[name]()
        spent[name] += time.monotonic() - now
        turns += 1
        if turns % MEND_EVERY == 0:
            _guarded(files.mend, files, findings)
        if time.monotonic() - said > SAID_EVERY_S:
            said = time.monotonic()
            done = findings.text().splitlines()[0]
            say(f"{(ends - said) / 60:.0f} minutes left: {done} Wrong: {dict(findings.wrong)}")


def _guarded(mend: Callable[[], None], files: StudyFiles, findings: Findings) -> None:
    try:
        mend()
    except (Died, Hung) as problem:
        findings.add(
            "death" if isinstance(problem, Died) else "hang", f"mending | {problem}", files.target.last_words()
        )
        files.target.again()
