"""Recordings: written in blocks, read by row, checked by digest."""
