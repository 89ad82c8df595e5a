"""Trains the small k-items agent: the k-items agent's script with 32 elements of memory.

python train.py --out run --minutes 17 --steps 5400000
python train.py --evaluate weights.safetensors
"""

from __future__ import annotations

import sys

from innerview.zoo.doom_kitems.train import main

if __name__ == "__main__":
    sys.argv[1:1] = ["--memory", "32"]
    main()
