"""Trained models: a folder per family with its manifest `MODELS` and its code, and in it a folder per model."""
