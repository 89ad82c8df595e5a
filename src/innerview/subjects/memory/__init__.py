"""Recurrent states: found or declared, carried from step to step, run again, and taken apart."""
