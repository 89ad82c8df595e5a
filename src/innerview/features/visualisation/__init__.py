"""Pictures that drive directions of a layer: what is aimed at, the canvas, and the way up."""
