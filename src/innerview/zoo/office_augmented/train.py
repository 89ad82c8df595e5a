"""Trains the office's pose network, trained with random brightness, contrast, dynamic range and hue.

python train.py --out run --minutes 5
python train.py --out run2 --resume run --minutes 5
"""

from __future__ import annotations

import sys

from innerview.zoo.office.train import main

if __name__ == "__main__":
    main(["--model", "augmented", *sys.argv[1:]])
