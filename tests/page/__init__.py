"""How the page gets into the package, and that it is there."""
