"""The pictures of the platformer: sprites, skies, and frames put together from them."""
