"""What people said about a study: names, selections, metrics and reductions."""
