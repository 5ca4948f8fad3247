"""Bytes first, then figures: raw ones into a JSON file, medians on the screen."""

import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Final

ROUNDS: Final = 9
RANDOM_LISTS: Final = 300


def main() -> int:
    """0: all bytes arrived, or there is no device. 1: some did not."""
    why = _missing()
    if why is not None:
        print(f"skipped: {why}")
        return 0
    began = time.monotonic()
    # Only now is torch known to be there.
    from gpu.check import check
    from gpu.place import Cuda
    from qwen3 import qwen3_06b_shapes

    figures, problems = check(Cuda(), qwen3_06b_shapes(), rounds=ROUNDS, lists=RANDOM_LISTS)
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "gpu.json")
    path.write_text(json.dumps(figures, indent=1) + "\n")
    print(f"raw figures in {path}; {time.monotonic() - began:.0f} s")
    for problem in problems:
        print(f"FAILED: {problem}")
    print("FAILED" if problems else "passed: every byte arrived")
    return 1 if problems else 0


def _missing() -> str | None:
    if find_spec("torch") is None:
        return "torch is not installed"
    import torch

    if not torch.cuda.is_available():
        return "torch sees no CUDA device"
    return None


if __name__ == "__main__":
    sys.exit(main())
