"""Do agents that know more levels see more clearly? The experiment and its plots."""
