"""Trains the dueling double DQN on Seaquest.

python train.py --out run --minutes 30
python train.py --out run --minutes 60 --resume run
"""

from __future__ import annotations

from innerview.zoo.atari.train import main

if __name__ == "__main__":
    main("seaquest_dqn")
