"""Says from maps at several moments of a training whether something is learnt, and when it begins to show."""
