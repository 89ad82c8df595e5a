"""Examines every method of attribution of a subject: finds the methods, feeds them rows, stores what they are worth."""
