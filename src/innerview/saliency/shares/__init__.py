"""Says how much of a map lies where: in a region, on a class of things, at a place of the picture, in time."""
