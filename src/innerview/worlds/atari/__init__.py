"""Atari games as worlds: ale-py's games, their frames and what their memory says."""
