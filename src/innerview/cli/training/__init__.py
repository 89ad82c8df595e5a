"""Commands about what a model was like while it was trained."""
