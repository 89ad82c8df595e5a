"""The command `ablate`: what it takes, and what it does."""
