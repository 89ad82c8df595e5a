"""Snapshots of a training beside each other: what their maps say, and whether that shows before the reward does."""
