"""Trains the office's pose network, the vanilla model, tuned on pictures of trajectory 2 in the stand-in.

python train.py --out run --minutes 5
python train.py --out run2 --resume run --minutes 5
"""

from __future__ import annotations

import sys

from innerview.zoo.office.train import main

if __name__ == "__main__":
    main(["--model", "finetuned", *sys.argv[1:]])
