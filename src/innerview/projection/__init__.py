"""Lays out states of many dimensions in a plane. Pure: arrays in, new ones out; no disk, no network.

One lens a file: a module with a `LENS` that describes it and a function `look`. `sampling` says which rows they show.
"""
