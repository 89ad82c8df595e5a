"""Derives a column from recorded ones: facts about what is in view, and people's own expressions."""

from innerview.metrics.advantage import Calibration, calibrate
from innerview.metrics.aligned import Aligned, Averages
from innerview.metrics.evaluation import evaluate
from innerview.metrics.functions import FUNCTIONS
from innerview.metrics.language import Expression, parse
from innerview.metrics.rows import Stretch, Value
from innerview.metrics.standard import ADVANTAGE, DerivedColumn, Given, standard
from innerview.metrics.thresholds import THRESHOLDS, Threshold, checked_thresholds

__all__ = [
    "ADVANTAGE",
    "FUNCTIONS",
    "THRESHOLDS",
    "Aligned",
    "Averages",
    "Calibration",
    "DerivedColumn",
    "Expression",
    "Given",
    "Stretch",
    "Threshold",
    "Value",
    "calibrate",
    "checked_thresholds",
    "evaluate",
    "parse",
    "standard",
]
