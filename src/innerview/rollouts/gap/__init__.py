"""How far off models are in each of two domains, over the same pairs."""
