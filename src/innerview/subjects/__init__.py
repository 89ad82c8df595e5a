"""Turns models into subjects.

A user's module is never changed, wrapped or copied: values are read through hooks that are gone when a
call is over. One file per family of models (`plain` torch, `sb3`).
"""

from innerview.subjects.actions import head_probabilities
from innerview.subjects.agreement import replay
from innerview.subjects.attribution.dependence import head_of, middle_for, reaching_layers
from innerview.subjects.attribution.integrated import Attribution, attribute
from innerview.subjects.attribution.layout import laid
from innerview.subjects.attribution.receptive_field import ReceptiveField, blanks, receptive_field
from innerview.subjects.attribution.stem import Stem, stem_of
from innerview.subjects.attribution.tail import Tail, tail
from innerview.subjects.attribution.targets import action_numbers, scored_run, scorer, settled_target
from innerview.subjects.body import Output
from innerview.subjects.plain.adapter import subject
from innerview.subjects.plugins import named_model
from innerview.subjects.sb3.adapter import from_sb3
from innerview.subjects.sites.backward import Rule, Secants
from innerview.subjects.sites.change import Change, Changes
from innerview.subjects.sites.operations import basis_of
from innerview.subjects.sites.program import Editor
from innerview.subjects.sites.validation import as_edits, checked, described, fingerprint
from innerview.subjects.subject import Subject
from innerview.subjects.weights import first_difference, read_weights, tensors_of

__all__ = [
    "Attribution",
    "Change",
    "Changes",
    "Editor",
    "Output",
    "ReceptiveField",
    "Rule",
    "Secants",
    "Stem",
    "Subject",
    "Tail",
    "action_numbers",
    "as_edits",
    "attribute",
    "basis_of",
    "blanks",
    "checked",
    "described",
    "fingerprint",
    "first_difference",
    "from_sb3",
    "head_of",
    "head_probabilities",
    "laid",
    "middle_for",
    "named_model",
    "reaching_layers",
    "read_weights",
    "receptive_field",
    "replay",
    "scored_run",
    "scorer",
    "settled_target",
    "stem_of",
    "subject",
    "tail",
    "tensors_of",
]
