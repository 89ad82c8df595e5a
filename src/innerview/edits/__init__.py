"""Changes a subject or an input: pure functions over tensors, with no disk and no network.

An edit of the memory is checked against the subject's sites, compiled once and made at each step to the new state,
before the heads read it and before it is carried.
"""

from innerview.edits.ablation import ablate, random_directions
from innerview.edits.selection import all_but, compose, keep_only, parse_elements, top
from innerview.edits.subject import edit
from innerview.subjects import Editor, as_edits, checked, described, fingerprint

__all__ = [
    "Editor",
    "ablate",
    "all_but",
    "as_edits",
    "checked",
    "compose",
    "described",
    "edit",
    "fingerprint",
    "keep_only",
    "parse_elements",
    "random_directions",
    "top",
]
