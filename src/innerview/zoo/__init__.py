"""Bundled models: one folder each with its card, its single-file training script and its weights.

A folder's `load()` gives the subject and the world it was trained in, its `evaluate()` works the card's table out anew.
"""

from innerview.zoo.entries import Entry, entries, entry, evaluate, evaluate_family, load

__all__ = ["Entry", "entries", "entry", "evaluate", "evaluate_family", "load"]
