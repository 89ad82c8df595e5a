"""Seven lenses, one of each type of result, a world, a model and an adapter: all that a plug-in needs to hold."""

from innerview_sample import brightest, columns, depth, restless, said, surety

__all__ = ["brightest", "columns", "depth", "restless", "said", "surety"]
