"""Says where two domains differ, and what of it a subject notices: arrays and lazy rows in, new arrays out."""
