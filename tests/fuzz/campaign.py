"""Takes turns between files, requests, messages, expressions and imports: for so long, or so many of each."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from innerview.store.sign import sign
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


@dataclass
class Campaign:
    """Everything that is tried, and the two services that it is tried on."""

    findings: Findings
    files: StudyFiles
    steps: Mapping[str, Callable[[], None]]
    targets: tuple[Target, Target]
    spent: dict[str, float] = field(default_factory=dict)

    @property
    def peak_bytes(self) -> int:
        """The most memory that a service and what it started took."""
        return max(target.peak_bytes for target in self.targets)

    def for_seconds(self, seconds: float, say: Callable[[str], None]) -> None:
        """Turns of some seconds each, by share."""
        ends, turns, said = time.monotonic() + seconds, 0, time.monotonic()
        self.spent = dict.fromkeys(self.steps, 0.0)
        while (now := time.monotonic()) < ends:
            name = min(self.steps, key=lambda each: self.spent[each] / SHARES[each])
            until = min(ends, now + SLICE_S)
            while time.monotonic() < until:
                self.steps[name]()
            self.spent[name] += time.monotonic() - now
            turns += 1
            if turns % MEND_EVERY == 0:
                self.mend()
            if time.monotonic() - said > SAID_EVERY_S:
                said = time.monotonic()
                done = self.findings.text().splitlines()[0]
                say(f"{(ends - said) / 60:.0f} minutes left: {done} Wrong: {dict(self.findings.wrong)}")
        self.mend()

    def for_steps(self, counts: Mapping[str, int]) -> None:
        """So many of each: the same each time."""
        for name, count in counts.items():
            for _ in range(count):
                self.steps[name]()
        self.mend()

    def mend(self) -> None:
        """Put the study in order, and see whether all is served as before."""
        try:
            self.files.mend()
        except (Died, Hung) as problem:
            kind = "death" if isinstance(problem, Died) else "hang"
            self.findings.add(kind, f"mending | {problem}", self.files.target.last_words())
            self.files.target.again()


@contextmanager
def campaign(folder: Path, findings: Findings, *, seed: int) -> Iterator[Campaign]:
    """Make the corpus and start the services. The study whose files are damaged is signed where the seed is even."""
    random, pristine = Random(seed), folder / "corpus"
    pristine.mkdir()
    make_study(pristine / "a.study")
    make_imports(pristine / "imports")
    for copy in ("damaged", "asked"):
        shutil.copytree(pristine / "a.study", folder / copy / "a.study")
    shutil.copytree(pristine / "imports", folder / "imports" / "given")
    if seed % 2 == 0:
        sign(folder / "damaged" / "a.study")
    read, asked = Target(folder / "damaged" / "a.study"), Target(folder / "asked" / "a.study")
    files = StudyFiles(read, random, findings)
    routes = Routes(asked, random, findings, pristine / "a.study")
    imports = Imports(read, random, findings, folder / "imports" / "given")
    messages = Messages(routes, random, findings)
    try:
        read.launch()
        asked.start()
        read.wait()
        files.learn()
        routes.learn()
        imports.learn()
        steps = {
            "files": files.step,
            "routes": routes.step,
            "expressions": routes.expression,
            "messages": messages.step,
            "imports": imports.step,
        }
        yield Campaign(findings, files, steps, (read, asked))
    finally:
        read.stop()
        asked.stop()
