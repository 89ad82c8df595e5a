"""Textures, all drawn by rule and seed."""
