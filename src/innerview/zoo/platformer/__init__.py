"""The platformer agents: one network, trained on every level or on a limited number of them."""
