"""Where things are: maps, poses and their units."""
