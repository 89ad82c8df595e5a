"""ViZDoom's games as worlds: settings, facts and the engines' processes."""
