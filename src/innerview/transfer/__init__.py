"""Says where two domains differ: errors of poses in each, the gap between them, and how much of it is closed."""
