"""Says whether a picture can be believed. Pure: rows, a subject and methods in, figures out; no disk, no network.

One figure a file. Methods come in as functions: which ones there are is the business of whoever asks.
"""
