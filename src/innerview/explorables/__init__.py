"""Packs a page that needs no server."""
