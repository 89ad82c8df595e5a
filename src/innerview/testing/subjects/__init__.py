"""Subjects of every shape with known answers, the table of them, and the check of somebody's own."""

from innerview.testing.subjects.table import CASES, TORCH_CASES, Case, random_inputs

__all__ = ["CASES", "TORCH_CASES", "Case", "random_inputs"]
