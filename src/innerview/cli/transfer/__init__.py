"""Commands about two domains: the gap of models, filters of pictures, and the camera that explains them."""
