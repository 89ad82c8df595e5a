"""Goes on with the unlimited agent, which now pays for what layer 2b says, is asked for dangers, and slips.

python train.py --out run
"""

from __future__ import annotations

import sys

from innerview.zoo.platformer.score import weights_of
from innerview.zoo.platformer.train import main

PRICES = ("--sparse", "0.1", "--alone", "1", "--naming", "1.5", "--sparse-from", "0.15")
LESSONS = ("--slip", "0.25", "--teach-until", "1", "--batch", "2048", "--entropy", "0.003", "--minutes", "5")

if __name__ == "__main__":
    before = str(weights_of("platformer"))
    main(["--begin", before, "--teacher", before, *PRICES, *LESSONS, *sys.argv[1:]])
