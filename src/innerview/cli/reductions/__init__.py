"""The commands `reduce`, `sweep` and `smallest-memory`: what they take, and what they do."""
