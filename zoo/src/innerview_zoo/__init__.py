"""Worlds and trained models that come with innerview, found through the same entry points as anybody's plug-in.

import innerview_zoo as zoo
subject, world = zoo.load("platformer")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from innerview_zoo.catalogue import Entry, entries, entry, evaluate, evaluate_family, load
    from innerview_zoo.explorable.page import export_explorable
    from innerview_zoo.pairs.office import office_pairs
    from innerview_zoo.pairs.training import PoseTraining, load_pose_network, train_pose

__version__ = "0.1.0"
# Loaded when first used, so that listing commands does not wait for torch.
_HOMES = {
    **dict.fromkeys(("Entry", "entries", "entry", "evaluate", "evaluate_family", "load"), "innerview_zoo.catalogue"),
    "export_explorable": "innerview_zoo.explorable.page",
    "office_pairs": "innerview_zoo.pairs.office",
    **dict.fromkeys(("PoseTraining", "load_pose_network", "train_pose"), "innerview_zoo.pairs.training"),
}
__all__ = [
    "Entry",
    "PoseTraining",
    "entries",
    "entry",
    "evaluate",
    "evaluate_family",
    "export_explorable",
    "load",
    "load_pose_network",
    "office_pairs",
    "train_pose",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'innerview_zoo' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
