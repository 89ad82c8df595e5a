"""Tiny subjects and worlds with known answers, for the tests of innerview and of anything built on it."""
