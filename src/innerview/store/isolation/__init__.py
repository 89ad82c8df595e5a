"""Decodes what others wrote in a process of its own, whose death is an error message."""
