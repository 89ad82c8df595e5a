"""Adapts a model and names its parts; the only room that attaches hooks.

A user's module is never changed, wrapped or copied: it is called as it was written, with hooks that are gone when the
call is over. One file per family of models (`plain` torch, `sb3`).
"""

from innerview.subjects.attribution.dependence import head_of, middle_for, reaching_layers
from innerview.subjects.attribution.receptive_field import ReceptiveField, blanks, receptive_field
from innerview.subjects.attribution.tail import Tail, tail
from innerview.subjects.plain import subject
from innerview.subjects.sb3 import from_sb3
from innerview.subjects.sites.change import Change
from innerview.subjects.subject import Output, Subject

__all__ = [
    "Change",
    "Output",
    "ReceptiveField",
    "Subject",
    "Tail",
    "blanks",
    "from_sb3",
    "head_of",
    "middle_for",
    "reaching_layers",
    "receptive_field",
    "subject",
    "tail",
]
