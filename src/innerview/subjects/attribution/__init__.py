"""What a head depends on: which layers reach it, what comes after a layer, and what of a picture its cells see."""
