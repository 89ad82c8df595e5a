"""What a study holds, as values that two studies can be compared by."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from innerview.schema import to_json
from innerview.store import (
    Recording,
    Study,
    check,
    load_card,
    load_metrics,
    load_selections,
    load_weights,
    subjects,
)

_TIMES = re.compile(r'"created_at": ?"[^"]*"')


def saved(root: Path) -> set[str]:
    """A word for each thing that was saved and is whole: what a person may rely on."""
    return set(_saved(Study.open(root))) if Study.exists(root) else set()


def everything(root: Path) -> dict[str, Any]:
    """Everything in a study but when it was made: files, rows, arrays, results and what is damaged."""
    study = Study.open(root)
    recordings = [study.recording(name) for name in study.recordings()]
    return {
        "damage": [str(each) for each in check(root)],
        # A set: what a result replaced goes with its next save where the process was killed just before.
        "files": sorted({_plain(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}),
        "recordings": {each.name: _recording(each) for each in recordings},
        "predictions": {each.id: _recording(each) for each in study.predictions()},
        "saved": sorted(saved(root)),
    }


def _plain(path: Path) -> str:
    return re.sub(r"\.[0-9a-f]{8}\.(npy|json)$", r".\1", str(path))


def _recording(recording: Recording) -> list[Any]:
    arrays = {spec.name: _digest(recording.array(spec.name, 0, recording.rows)) for spec in recording.info.arrays}
    rows, groups = recording.columns(None).to_dict(as_series=False), recording.groups().to_dict(as_series=False)
    return [recording.complete, recording.digest, recording.rows, _short([rows, groups]), arrays]


def _digest(values: Any) -> str:
    return hashlib.sha256(values.tobytes()).hexdigest()[:12]


def _short(value: Any) -> str:
    text = _TIMES.sub("", json.dumps(to_json(value), sort_keys=True))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _saved(study: Study) -> Iterator[str]:
    yield f"study {study.name}"
    for name, selection in load_selections(study).items():
        yield f"selection {name} {_short(selection)}"
    if (study.path / "names.json").exists():
        for result, names in json.loads((study.path / "names.json").read_text("utf-8")).items():
            for part, name in names.items():
                yield f"name {result} {part} {name}"
    metrics = load_metrics(study)
    for metric in metrics.own:
        yield f"metric {metric.name} {_short(metric)}"
    for name, value in metrics.thresholds.items():
        yield f"threshold {name} {value}"
    for reduction in study.reductions():
        yield f"reduction {reduction.name} {_short(reduction)}"
    for made in study.filters():
        yield f"filter {made.name} {_short(made)}"
    yield from _models(study)
    yield from _computed(study)


def _models(study: Study) -> Iterator[str]:
    for snapshot in study.snapshots():
        _, weights = study.snapshot(snapshot.run, snapshot.step)
        yield f"snapshot {snapshot.subject} {_short({name: each.tolist() for name, each in weights.items()})}"
    for name in subjects(study):
        weights = load_weights(study, name)
        told = [load_card(study, name), {each: values.tolist() for each, values in weights.items()}]
        yield f"subject {name} {_short(told)}"


def _computed(study: Study) -> Iterator[str]:
    for info in study.results():
        if not info.provisional:
            study.check_result(info.id)
            arrays = {name: study.result_array(info.id, name).tolist() for name in info.arrays}
            yield f"result {info.id} {_short([study.result(info.id).value, arrays])}"
    for path in sorted(study.path.glob("played/*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            if line.strip() and _is_json(line):
                yield f"played {path.stem} {_short(json.loads(line))}"
    for recording in [*map(study.recording, study.recordings()), *study.predictions()]:
        if recording.complete:
            yield f"rows {recording.name} {_short(_recording(recording))}"


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
