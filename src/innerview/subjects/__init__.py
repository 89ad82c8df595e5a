"""Adapts a model and names its parts; the only room that attaches hooks.

A user's module is never changed, wrapped or copied: it is called as it was written, with hooks that are gone when the
call is over. One file per family of models (`plain` torch, `sb3`).
"""

from innerview.subjects.changing import Change
from innerview.subjects.plain import subject
from innerview.subjects.reaching import head_of, middle_for, reaching
from innerview.subjects.sb3 import from_sb3
from innerview.subjects.sight import Sight, blanks, sight
from innerview.subjects.subject import Output, Subject
from innerview.subjects.tail import Tail, tail

__all__ = [
    "Change",
    "Output",
    "Sight",
    "Subject",
    "Tail",
    "blanks",
    "from_sb3",
    "head_of",
    "middle_for",
    "reaching",
    "sight",
    "subject",
    "tail",
]
