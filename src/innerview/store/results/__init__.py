"""What was computed about recordings, and can be computed again."""
