"""Paired pictures as a recording: the same poses in the simulator and in its stand-in for reality."""
