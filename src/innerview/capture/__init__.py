"""Runs a subject in a world and yields what happened, in the order in which it is kept.

It knows nothing of disks: whoever calls it decides where the pieces go. The same seeds give the same pieces, whatever
was recorded before and however the episodes are spread over lanes.
"""

from innerview.capture.heads import decisions, output_arrays
from innerview.capture.lane import Ending, Piece
from innerview.capture.layout import Layout, layout
from innerview.capture.rollout import Editing, Plan, rollout

__all__ = ["Editing", "Ending", "Layout", "Piece", "Plan", "decisions", "layout", "output_arrays", "rollout"]
