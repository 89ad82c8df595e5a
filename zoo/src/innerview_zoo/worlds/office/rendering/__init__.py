"""Pictures of a floor: rays, light and the camera."""
