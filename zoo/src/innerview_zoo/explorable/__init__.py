"""The page about how little memory a k-items agent gets by with."""
