"""Damages a file of a study, asks for what it holds, compares with the undamaged, and puts it back."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import quote

import numpy as np

from innerview.serve.context import LOOK_AGAIN_S
from tests.fuzz import checksums
from tests.fuzz.findings import MEMORY_BYTES, Findings
from tests.fuzz.mutations import bytes_mutated, json_mutated, replace_by_another_thing
from tests.fuzz.target import START_S, Died, Hung, Reply, Target

CACHES = ("derived", "pyramid")
"""What may be deleted at any time; `check` need not name it."""
LISTS = ("study", "vocabulary", "results", "edited", "predictions")
PROBES = 3
CHECKED = 0.1
_TRIES = 20


@dataclass
class StudyFiles:
    """Every file of one study, and what the service says of it while it is whole."""

    target: Target
    random: Random
    findings: Findings
    whole: dict[str, bytes] = field(default_factory=dict)
    answers: dict[str, Reply] = field(default_factory=dict)
    kinds: dict[str, list[str]] = field(default_factory=dict)

    def learn(self) -> None:
        """Read every file and ask for everything."""
        root = self.target.study
        files = sorted(path for path in root.rglob("*") if path.is_file() and path.suffix != ".lock")
        self.whole = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
        for path in self.whole:
            self.kinds.setdefault(_kind(path), []).append(path)
        for asked in all_probes(self.target):
            first, second = (self.target.ask("GET", asked, limit_s=START_S) for _ in range(2))
            if first.status == 200 and first.body == second.body:
                self.answers[asked] = first

    def step(self) -> None:
        """One file damaged, looked at and mended."""
        kind = self.random.choice(list(self.kinds))
        name = self.random.choice(self.kinds[kind])
        changed = {name}
        path = self.target.study / name
        left = True
        how = self.random.random()
        if how < 0.04:
            outside = self.target.study.with_name("outside")
            try:
                what = replace_by_another_thing(self.random, path, outside)
            except FileNotFoundError:
                return  # a cache that the service threw away at this moment
            # Without its file there are no names, selections or results, and nothing says that there were any.
            left = what != "nothing" or not path.name.endswith(".json") or name.startswith("recordings")
        else:
            left = how < 0.55
            what = "left" if left else "renewed"
            content = self._damaged(name) if left else self._believable(name)
            if content == self.whole[name]:
                return
            _replace(path, content)
            if not left:
                with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
                    more = checksums.renew(self.target.study, path, self.whole[name])
                    changed |= {each.relative_to(self.target.study).as_posix() for each in more}
        self.findings.files += 1
        where = f"{_kind(name)} ({what}) | {name}"
        try:
            self._touch(name)
            self._look(name, where, left=left)
        except Died:
            self.findings.add("death", where, self.target.last_words(), damaged=_content(path))
            self.target.again()
        except Hung as hung:
            self.findings.add("hang", f"{where} | {hung}", damaged=_content(path))
            self.target.again()
        finally:
            for each in changed:
                _replace(self.target.study / each, self.whole[each])
            self._touch(name)
        if self.target.measure() > MEMORY_BYTES:
            self.findings.add("memory", where)
            self.target.again()

    def mend(self) -> None:
        """The study as it was, also where the service wrote into it; what it says then must be what it said before."""
        for path in [p for p in self.target.study.rglob("*") if p.is_file() or p.is_symlink()]:
            name = path.relative_to(self.target.study).as_posix()
            if name not in self.whole and path.suffix != ".lock":
                path.unlink()
        for name, content in self.whole.items():
            if _content(self.target.study / name) != content:
                _replace(self.target.study / name, content)
            self._touch(name)
        for asked, before in self.answers.items():
            now = self.target.ask("GET", asked)
            self.findings.requests += 1
            if now.body != before.body:
                time.sleep(LOOK_AGAIN_S + 1)  # what is damaged is looked up again after a while
                now = self.target.ask("GET", asked)
            if now.status != 200 or now.body != before.body:
                self.findings.add(
                    "silent",
                    f"after everything was mended | {asked} {now.status}",
                    now.body[:500].decode(errors="replace"),
                )

    def _damaged(self, name: str) -> bytes:
        content = self.whole[name]
        textual = name.endswith((".json", ".jsonl"))
        if textual and self.random.random() < 0.75:
            return json_mutated(self.random, content)
        return bytes_mutated(self.random, content, self._another)

    def _believable(self, name: str) -> bytes:
        """Damaged, with the checksums inside of it as they should be then."""
        content = self.whole[name]
        if (body := checksums.unsealed(content)) is not None:
            return checksums.resealed(json_mutated(self.random, body))
        if name.endswith(".jsonl"):
            return json_mutated(self.random, content)
        if "/arrays/" in name:
            return checksums.shard_damaged(self.random, content, bytes_mutated)
        return bytes_mutated(self.random, content, self._another)

    def _another(self) -> bytes:
        return self.whole[self.random.choice(list(self.whole))]

    def _look(self, name: str, where: str, *, left: bool) -> None:
        probes = [asked for asked in probes_of(name, list(self.answers)) if asked in self.answers]
        for asked in self.random.sample(probes, min(PROBES, len(probes))):
            now = self.target.ask("GET", asked)
            self.findings.requests += 1
            if now.status >= 500:
                self.findings.add(
                    "5xx",
                    f"{where} | GET {asked}",
                    self.target.last_words(),
                    damaged=_content(self.target.study / name),
                )
            elif left and now.status == 200 and now.body != self.answers[asked].body and not self._names(now, asked):
                self.findings.add(
                    "silent",
                    f"{where} | GET {asked}",
                    _difference(self.answers[asked], now),
                    damaged=_content(self.target.study / name),
                )
        if self.random.random() < CHECKED:
            self._check(name, where, left=left)

    def _check(self, name: str, where: str, *, left: bool) -> None:
        told = self.target.tell("check", folder=str(self.target.study))
        if "failed" in told:
            self.findings.add("failure", f"check: {where}", told["failed"], damaged=_content(self.target.study / name))
        elif left and not told.get("value") and "refused" not in told and not set(CACHES) & set(name.split("/")):
            self.findings.add("unnamed", where, damaged=_content(self.target.study / name))

    def _names(self, reply: Reply, asked: str) -> bool:
        """Whether somebody is told that something is damaged."""
        if "x-innerview-building" in reply.headers:
            return True  # made anew, which takes a while
        if "/tiles/" in asked:
            return _differs_by_what_is_unknown(self.answers[asked], reply)
        if not reply.headers.get("content-type", "").startswith("application/json"):
            return False
        value = reply.json()
        if isinstance(value, dict) and value.get("damage"):
            return True
        if asked.split("?")[0].rsplit("/", 1)[-1] not in LISTS:
            return False
        # What is left out of a list is named by the study, which looks again after some seconds, and by `check`.
        told = self.target.tell("check", folder=str(self.target.study))
        return bool(told.get("value") or "refused" in told)

    def _touch(self, name: str) -> None:
        """Let the service see that a recording changed: it looks at the manifest."""
        parts = name.split("/")
        if parts[0] in ("recordings", "predictions"):
            manifest = self.target.study.joinpath(*parts[:2], "manifest.json")
            if content := _content(manifest):
                _replace(manifest, content)


def all_probes(target: Target) -> list[str]:
    """Addresses of everything that a study holds."""
    found = [
        "/api/study",
        "/api/vocabulary",
        "/api/results",
        "/api/edited",
        "/api/selections",
        "/api/reductions",
        "/api/filters",
    ]
    found += ["/api/reductions/file", "/api/metrics", *_recording_probes(target)]
    for entry in target.ask("GET", "/api/edited").json()["edited"]:
        found.append(f"/api/edited/{quote(entry['name'], safe='')}/weights")
    for result in target.ask("GET", "/api/results").json():
        id = result["id"]
        found += [f"/api/results/{id}", f"/api/names/{id}"]
        found += [f"/api/results/{id}/arrays/{quote(array)}" for array in result["arrays"]]
    return found


def _recording_probes(target: Target) -> list[str]:
    found = []
    for line in target.ask("GET", "/api/study").json()["recordings"]:
        root = f"/api/recordings/{quote(line['name'], safe='')}"
        told = target.ask("GET", root).json()
        names = "&".join(f"names={quote(column['name'])}" for column in told["columns"])
        found += [root, f"{root}/columns?{names}", f"{root}/groups", f"{root}/predictions"]
        for array in told["arrays"]:
            name = quote(array["name"])
            found += [f"{root}/arrays/{name}", f"{root}/arrays/{name}/lengths", f"{root}/images/{name}/0"]
            found += [
                f"{root}/images/{name}/5",
                f"{root}/tiles/{name}?level=0&tile=0",
                f"{root}/order?by=change&array={name}",
            ]
            found += [f"{root}/tiles/{name}?level={level}&tile=0" for level in (3, 5)]
        for folder in (target.study / "recordings" / line["name"] / "scenes").glob("*.json"):
            found += [f"{root}/scenes/{folder.stem}", f"{root}/scenes/{folder.stem}/map"]
        for made in target.ask("GET", f"{root}/predictions").json():
            inside = f"{root}/predictions/{made['id']}"
            found += [f"{inside}/columns", *(f"{inside}/arrays/{quote(a['name'])}" for a in made.get("arrays", []))]
    return found


def probes_of(name: str, known: list[str]) -> list[str]:
    """Which of the addresses have to do with a file."""
    parts = name.split("/")
    if parts[0] == "recordings":
        root = f"/api/recordings/{quote(parts[1], safe='')}"
        inside = [asked for asked in known if asked.startswith(root + "/") or asked == root]
        if parts[2] == "arrays":
            return [asked for asked in inside if f"/{quote(parts[3])}" in asked.removeprefix(root)] or inside
        words = {"rows": "columns", "tables": "columns", "groups": "groups", "scenes": "scenes", "pyramid": "tiles"}
        if parts[2] in words and len(parts) > 3:
            return [asked for asked in inside if words[parts[2]] in asked] + ["/api/vocabulary"]
        return [*inside, "/api/study", "/api/vocabulary"]
    if parts[0] == "predictions":
        return [asked for asked in known if "/predictions" in asked]
    if parts[0] == "results":
        return [asked for asked in known if parts[1] in asked or asked == "/api/results"]
    words = {"subjects": "/api/edited", "names.json": "/api/names", "metrics.json": "/columns"}
    word = words.get(parts[0], f"/api/{parts[0].removesuffix('.json')}")
    return [asked for asked in known if word in asked] or ["/api/study"]


def _kind(name: str) -> str:
    """The sort of a file by its place; every sort is tried as often."""
    parts = name.split("/")
    if parts[0] in ("recordings", "predictions"):
        rest = parts[2:]
        last = rest[-1].split(".")[0] if rest[0] == "arrays" else ""
        return "/".join([parts[0], rest[0], *([last] if last else []), Path(name).suffix or rest[-1]])
    return "/".join([parts[0], Path(name).name if "/" in name and Path(name).suffix != ".npy" else Path(name).suffix])


def _differs_by_what_is_unknown(before: Reply, now: Reply) -> bool:
    """Whether a tile is as it was, but for rows that are shown as unknown: a picture of a long memory has holes."""
    if len(now.body) != len(before.body):
        return False
    was, now_is = (np.frombuffer(each.body, each.headers["x-innerview-dtype"]) for each in (before, now))
    return bool(((was == now_is) | np.isnan(now_is)).all())


def _difference(before: Reply, now: Reply) -> str:
    """Where two answers part, and what stands there."""
    pairs = zip(before.body, now.body, strict=False)
    at = next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(before.body), len(now.body)))
    about = [f"{len(r.body)} bytes {r.headers} … {r.body[max(0, at - 40) : at + 80]!r}" for r in (before, now)]
    return f"From byte {at} on.\nwas {about[0]}\nis  {about[1]}"


def _replace(path: Path, content: bytes) -> None:
    """Put a plain file there, whatever stands there now."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    made = path.with_name(path.name + ".new")
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):  # the service throws a damaged cache away, maybe at this moment
            path.parent.mkdir(parents=True, exist_ok=True)
            made.write_bytes(content)
            made.replace(path)
            return
    raise FileNotFoundError(path)


def _content(path: Path) -> bytes:
    return (
        path.read_bytes()
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 24 and _readable(path)
        else b""
    )


def _readable(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o400)
