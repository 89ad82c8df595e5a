"""Agents with weights written by hand, whose decisions and what led to them are known."""
