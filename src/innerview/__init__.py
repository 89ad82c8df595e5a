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
    from innerview.jobs.blinding import blind
    from innerview.jobs.explorable import export_explorable
    from innerview.jobs.looking import look
    from innerview.jobs.minimal import minimal
    from innerview.jobs.playout import play_out
    from innerview.jobs.proof import prove
    from innerview.jobs.record import record
    from innerview.jobs.reduce import reduce_table
    from innerview.jobs.rerun import rerun
    from innerview.jobs.snapshots import snapshot, snapshot_callback
    from innerview.jobs.sweep import sweep
    from innerview.schema import MemoryEdit, Move, Reduction
    from innerview.serve import show
    from innerview.store import Recording, Study, check, write_rows
    from innerview.subjects import Subject, from_sb3, subject
    from innerview.worlds import World, world

__version__ = "0.1.0"
# Loaded when first used, so that looking at a study does not wait for torch.
_HOMES = {
    "MemoryEdit": "innerview.schema",
    "Move": "innerview.schema",
    "Recording": "innerview.store",
    "Reduction": "innerview.schema",
    "Study": "innerview.store",
    "Subject": "innerview.subjects",
    "World": "innerview.worlds",
    "blind": "innerview.jobs.blinding",
    "check": "innerview.store",
    "export_explorable": "innerview.jobs.explorable",
    "from_sb3": "innerview.subjects",
    "minimal": "innerview.jobs.minimal",
    "play_out": "innerview.jobs.playout",
    "look": "innerview.jobs.looking",
    "prove": "innerview.jobs.proof",
    "record": "innerview.jobs.record",
    "reduce_table": "innerview.jobs.reduce",
    "rerun": "innerview.jobs.rerun",
    "show": "innerview.serve",
    "snapshot": "innerview.jobs.snapshots",
    "snapshot_callback": "innerview.jobs.snapshots",
    "subject": "innerview.subjects",
    "sweep": "innerview.jobs.sweep",
    "world": "innerview.worlds",
    "write_rows": "innerview.store",
}
__all__ = [
    "InnerviewError",
    "MemoryEdit",
    "Move",
    "Recording",
    "Reduction",
    "Study",
    "Subject",
    "UnknownName",
    "World",
    "blind",
    "check",
    "export_explorable",
    "from_sb3",
    "look",
    "minimal",
    "play_out",
    "prove",
    "record",
    "reduce_table",
    "rerun",
    "show",
    "snapshot",
    "snapshot_callback",
    "subject",
    "sweep",
    "world",
    "write_rows",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'innerview' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
