"""Draws maps of several methods side by side, over an episode, as a video: finds what is stored, runs what is not."""
