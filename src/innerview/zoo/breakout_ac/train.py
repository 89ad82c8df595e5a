"""Trains the actor-critic on Breakout.

python train.py --out run --minutes 30
python train.py --out run --minutes 60 --resume run
"""

from __future__ import annotations

from innerview.zoo.atari.train import main

if __name__ == "__main__":
    main("breakout_ac")
