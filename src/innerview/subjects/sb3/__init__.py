"""Agents of stable-baselines3 and sb3-contrib."""
