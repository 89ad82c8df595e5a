"""The page in a real Chromium, over small studies that are made through the public API."""
