"""Changes a subject or an input: pure functions over tensors, with no disk and no network.

An edit of the memory is checked against the subject's sites, compiled once and made at each step to the new state,
before the heads read it and before it is carried.
"""

from innerview.edits.ablation import ablate, random_directions
from innerview.edits.selection import all_but, keep_only, parse_elements
from innerview.edits.subject import edit

__all__ = ["ablate", "all_but", "edit", "keep_only", "parse_elements", "random_directions"]
