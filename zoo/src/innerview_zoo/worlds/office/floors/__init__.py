"""Floors: rooms, what stands in them, where a robot can be, and their plan."""
