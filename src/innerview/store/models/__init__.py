"""Weights, cards and snapshots of subjects."""
