"""Damages files, requests, messages, expressions and imports, and watches what the service makes of them."""
