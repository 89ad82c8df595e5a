"""Sets of images, paired where domains show the same: a layout each, all of which become the same kind of recording."""

from innerview.store.importers.pairs.layouts import LAYOUTS, import_pairs
from innerview.store.importers.pairs.manifest import is_manifest

__all__ = ["LAYOUTS", "import_pairs", "is_manifest"]
