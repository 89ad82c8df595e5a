"""Bundled models: one folder each with its card, its single-file training script and its weights.

A folder's `load()` gives the subject and the world it was trained in.
"""

from innerview.zoo.entries import Entry, entries, load

__all__ = ["Entry", "entries", "load"]
