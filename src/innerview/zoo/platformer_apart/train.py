"""Parts the danger channel of the quiet agent by the kind of danger, in minutes on a GPU.

python train.py --out run
"""

from __future__ import annotations

import sys

from innerview.zoo.platformer.score import weights_of
from innerview.zoo.platformer.split import main

if __name__ == "__main__":
    main([str(weights_of("platformer_quiet")), *sys.argv[1:]])
