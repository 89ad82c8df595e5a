"""The Atari agents: four networks, how they learn, and what they score."""
