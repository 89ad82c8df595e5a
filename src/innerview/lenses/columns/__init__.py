"""Columns of a recording: those that were recorded, and those derived from them."""
