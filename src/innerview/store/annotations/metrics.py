"""Metrics that people made, and thresholds they set, kept in the study."""

from __future__ import annotations

import hashlib
import json

from innerview.errors import StoreError
from innerview.schema import Metrics, from_json, to_json
from innerview.store.files import json_bytes, read_json, replace_file
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


def save_metrics(study: Study, metrics: Metrics) -> None:
    """Replace what the study keeps about metrics."""
    if len(metrics.own) > _COUNT:
        raise StoreError(f"A study keeps at most {_COUNT} metrics, not {len(metrics.own)}.")
    for name in (one.name for one in metrics.own):
        if not 0 < len(name.strip()) <= _NAME_LENGTH or not name.isprintable():
            raise StoreError(f"{name!r:.60} cannot name a metric: use 1 to {_NAME_LENGTH} letters, digits or signs.")
    content = json_bytes(to_json(metrics))
    if len(content) > _LIMIT:
        raise StoreError(f"The metrics take {len(content)} bytes; a study keeps at most {_LIMIT}.")
    replace_file(confined(study.path, _FILE), content)


def metrics_digest(metrics: Metrics) -> str:
    """Changes whenever a metric or a threshold does."""
    return hashlib.sha256(json.dumps(to_json(metrics), sort_keys=True).encode()).hexdigest()[:16]
