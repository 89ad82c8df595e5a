"""Says what hidden units detect: arrays in, new arrays out."""
