"""innerview opens up neural agents that see."""
