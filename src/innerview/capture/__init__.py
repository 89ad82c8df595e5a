"""Runs a subject in a world, or over rows that are there, and yields what happened.

One step, one sampler and one episode summary under three drivers: `rollout` records (full batches, so that resuming is
exact), `evaluate` counts how episodes go (games that end leave the batch), `GivenRows` runs over rows that are there.
It knows nothing of disks: whoever calls it decides where the pieces go.
"""

from innerview.capture.evaluation import evaluate
from innerview.capture.given import GivenRows
from innerview.capture.lane import Piece
from innerview.capture.layout import Layout, group_line, layout
from innerview.capture.rollout import Plan, rollout
from innerview.capture.step import Sampler, Stepper, within_bounds
from innerview.capture.summary import STEP_LIMIT, Tally

__all__ = [
    "STEP_LIMIT",
    "GivenRows",
    "Layout",
    "Piece",
    "Plan",
    "Sampler",
    "Stepper",
    "Tally",
    "evaluate",
    "group_line",
    "layout",
    "rollout",
    "within_bounds",
]
