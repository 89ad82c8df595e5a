"""Kills writers before every operation on a file, and lets many save at once: nothing that was accepted may be lost."""
