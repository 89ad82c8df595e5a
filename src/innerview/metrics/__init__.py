"""Derives a column from recorded ones: facts about what is in view, and people's own expressions."""

from innerview.metrics.aligned import Aligned, Averages
from innerview.metrics.evaluation import evaluate
from innerview.metrics.functions import FUNCTIONS
from innerview.metrics.language import Expression, parse
from innerview.metrics.rows import Stretch, Value
from innerview.metrics.standard import DerivedColumn, Given, standard
from innerview.metrics.thresholds import THRESHOLDS, Threshold, checked_thresholds

__all__ = [
    "FUNCTIONS",
    "THRESHOLDS",
    "Aligned",
    "Averages",
    "DerivedColumn",
    "Expression",
    "Given",
    "Stretch",
    "Threshold",
    "Value",
    "checked_thresholds",
    "evaluate",
    "parse",
    "standard",
]
