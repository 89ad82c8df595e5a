"""What-if rollouts: from a recorded row on, other actions or other things in the world."""
