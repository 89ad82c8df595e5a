"""Things that can stand on a floor, put together from parts."""
