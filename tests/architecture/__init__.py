"""Holds the repository to ARCHITECTURE.md: order of rooms, purity, sizes, docs, nothing unsafe, nothing private."""
