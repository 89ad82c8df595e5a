"""Filters of recorded pictures: colours, measured distances, and where the camera looks."""
