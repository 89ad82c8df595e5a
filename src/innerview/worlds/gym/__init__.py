"""Gymnasium's environments as worlds."""
