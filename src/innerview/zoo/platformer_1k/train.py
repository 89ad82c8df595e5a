"""Trains the platformer agent on 1,000 levels: the family's script with that limit.

python train.py --out run --minutes 30
"""

from __future__ import annotations

import sys

from innerview.zoo.platformer.train import main

if __name__ == "__main__":
    main(["--levels", "1000", *sys.argv[1:]])
