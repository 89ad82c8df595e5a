"""Finds lenses, checks what they need, feeds them rows and keeps their results."""
