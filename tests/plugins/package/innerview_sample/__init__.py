"""Seven lenses, one of each type of result, a world and a model: all that a plug-in needs to hold."""

from innerview_sample import brightest, columns, depth, guided, restless, said, surety

__all__ = ["brightest", "columns", "depth", "guided", "restless", "said", "surety"]
