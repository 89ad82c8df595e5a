"""innerview opens up neural agents that see: record what a model did, look inside, change something, run it again.

import innerview as iv
iv.record("my.study", iv.from_sb3(model), env, episodes=10)
iv.show("my.study")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from innerview.errors import InnerviewError, UnknownName

if TYPE_CHECKING:
    from innerview.edits import edit
    from innerview.interventions.ablation import ablate
    from innerview.interventions.ablation_test import ablation_test
    from innerview.interventions.best_filter import best_filter
    from innerview.interventions.fit_camera import fit_camera
    from innerview.interventions.reductions import reduce_table
    from innerview.interventions.smallest_memory import smallest_memory
    from innerview.interventions.sweep import sweep
    from innerview.lenses.look import look
    from innerview.lenses.trust.work import examine
    from innerview.lenses.video.export import export_video
    from innerview.lenses.video.job import VideoMap
    from innerview.rollouts.gap.work import gap
    from innerview.rollouts.learning.ages import load_snapshot
    from innerview.rollouts.learning.folder import import_snapshots
    from innerview.rollouts.learning.signal import learning_signal
    from innerview.rollouts.predict import predict
    from innerview.rollouts.record import record
    from innerview.rollouts.recorder import recorder
    from innerview.rollouts.rerun import rerun
    from innerview.rollouts.snapshots import snapshot, snapshot_callback
    from innerview.rollouts.what_if.sessions import what_if
    from innerview.schema import EditSet, InputEdit, Move, SavedFilter, SiteEdit, WeightEdit
    from innerview.serve import show
    from innerview.store import Recording, Study, check, import_pairs, write_rows
    from innerview.subjects import Subject, from_sb3, subject
    from innerview.worlds import World, world

__version__ = "0.1.0"
# Loaded when first used, so that looking at a study does not wait for torch.
_HOMES = {
    "InputEdit": "innerview.schema",
    "SavedFilter": "innerview.schema",
    "SiteEdit": "innerview.schema",
    "WeightEdit": "innerview.schema",
    "Move": "innerview.schema",
    "Recording": "innerview.store",
    "EditSet": "innerview.schema",
    "Study": "innerview.store",
    "Subject": "innerview.subjects",
    "VideoMap": "innerview.lenses.video.job",
    "World": "innerview.worlds",
    "ablate": "innerview.interventions.ablation",
    "best_filter": "innerview.interventions.best_filter",
    "check": "innerview.store",
    "edit": "innerview.edits",
    "examine": "innerview.lenses.trust.work",
    "export_video": "innerview.lenses.video.export",
    "fit_camera": "innerview.interventions.fit_camera",
    "from_sb3": "innerview.subjects",
    "gap": "innerview.rollouts.gap.work",
    "import_snapshots": "innerview.rollouts.learning.folder",
    "learning_signal": "innerview.rollouts.learning.signal",
    "load_snapshot": "innerview.rollouts.learning.ages",
    "smallest_memory": "innerview.interventions.smallest_memory",
    "what_if": "innerview.rollouts.what_if.sessions",
    "look": "innerview.lenses.look",
    "ablation_test": "innerview.interventions.ablation_test",
    "predict": "innerview.rollouts.predict",
    "record": "innerview.rollouts.record",
    "recorder": "innerview.rollouts.recorder",
    "reduce_table": "innerview.interventions.reductions",
    "rerun": "innerview.rollouts.rerun",
    "show": "innerview.serve",
    "snapshot": "innerview.rollouts.snapshots",
    "snapshot_callback": "innerview.rollouts.snapshots",
    "subject": "innerview.subjects",
    "sweep": "innerview.interventions.sweep",
    "world": "innerview.worlds",
    "import_pairs": "innerview.store",
    "write_rows": "innerview.store",
}
__all__ = [
    "EditSet",
    "InnerviewError",
    "InputEdit",
    "Move",
    "Recording",
    "SavedFilter",
    "SiteEdit",
    "Study",
    "Subject",
    "UnknownName",
    "VideoMap",
    "WeightEdit",
    "World",
    "ablate",
    "ablation_test",
    "best_filter",
    "check",
    "edit",
    "examine",
    "export_video",
    "fit_camera",
    "from_sb3",
    "gap",
    "import_pairs",
    "import_snapshots",
    "learning_signal",
    "load_snapshot",
    "look",
    "predict",
    "record",
    "recorder",
    "reduce_table",
    "rerun",
    "show",
    "smallest_memory",
    "snapshot",
    "snapshot_callback",
    "subject",
    "sweep",
    "what_if",
    "world",
    "write_rows",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'innerview' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
