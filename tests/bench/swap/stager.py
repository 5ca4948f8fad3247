"""Command: `python -m bench.swap.stager CHECKPOINT ROOT CORE...` stages once on these cores, as an agent does."""

import os
import sys
from pathlib import Path

from bench.staging import stage_once

if __name__ == "__main__":
    os.sched_setaffinity(0, {int(core) for core in sys.argv[3:]})
    stage_once(Path(sys.argv[1]), Path(sys.argv[2]) / "staging")
