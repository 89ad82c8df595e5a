"""Metrics that people made, and thresholds they set, kept in the study."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from innerview.errors import StoreError, UnknownName
from innerview.schema import Metric, Metrics, from_json, to_json
from innerview.store.changes import change_json
from innerview.store.files import read_json
from innerview.store.paths import confined, is_there
from innerview.store.study import Study

_FILE = "metrics.json"
_LIMIT = 1 << 20
_COUNT = 200
_NAME_LENGTH = 80


def load_metrics(study: Study) -> Metrics:
    """What the study keeps about metrics; nothing where nobody made one yet."""
    path = confined(study.path, _FILE)
    if not is_there(path):
        return Metrics()
    found = from_json(Metrics, read_json(path, limit=_LIMIT))
    texts = [text for one in found.own for text in (one.name, one.expression, one.unit, one.description)]
    numbers = list(found.thresholds.values()) if isinstance(found.thresholds, dict) else [None]
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(n, int | float) for n in numbers):
        raise StoreError(f"'{_FILE}' holds metrics that are not text, or thresholds that are no numbers. Remove it.")
    return found


def save_metric(study: Study, metric: Metric, *, replaces: str = "") -> Metrics:
    """Save a metric; one of the same name is replaced, and the one it was called before."""
    if not 0 < len(metric.name.strip()) <= _NAME_LENGTH or not metric.name.isprintable():
        raise StoreError(f"{metric.name!r:.60} cannot name a metric: use 1 to {_NAME_LENGTH} letters, digits or signs.")

    def change(before: Metrics) -> Metrics:
        own = tuple(one for one in before.own if one.name not in (metric.name, replaces))
        if len(own) >= _COUNT:
            raise StoreError(f"A study keeps at most {_COUNT} metrics. Drop some first.")
        return replace(before, own=(*own, metric))

    return _change(study, change)


def drop_metric(study: Study, name: str) -> Metrics:
    """Forget a metric."""

    def change(before: Metrics) -> Metrics:
        names = [one.name for one in before.own]
        if name not in names:
            raise UnknownName("metric", name, names)
        return replace(before, own=tuple(one for one in before.own if one.name != name))

    return _change(study, change)


def save_thresholds(study: Study, thresholds: Mapping[str, float | None]) -> Metrics:
    """Set these thresholds for the whole study; None goes back to what is usual."""

    def change(before: Metrics) -> Metrics:
        changed = {**before.thresholds, **thresholds}
        return replace(before, thresholds={name: value for name, value in changed.items() if value is not None})

    return _change(study, change)


def _change(study: Study, change: Callable[[Metrics], Metrics]) -> Metrics:
    return change_json(study.path, _FILE, lambda: load_metrics(study), change, to_json, limit=_LIMIT)


def metrics_digest(metrics: Metrics) -> str:
    """Changes whenever a metric or a threshold does."""
    return hashlib.sha256(json.dumps(to_json(metrics), sort_keys=True).encode()).hexdigest()[:16]
