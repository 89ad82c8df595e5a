"""Brings data of other tools into a study."""
