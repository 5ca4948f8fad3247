"""torch, from where there is one: it is too large (4.7 GB) for the environment of the other tests.

WEIGHTROLLOUT_TORCH names a Python of the same version that has it; its packages are looked at after
ours, so nothing else changes. Without it, and without a torch of our own, these tests are skipped.
"""

import os
import subprocess
import sys
from importlib.util import find_spec


def _borrow_torch() -> None:
    lender = os.environ.get("WEIGHTROLLOUT_TORCH")
    if find_spec("torch") is not None or not lender:
        return
    ask = [lender, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"]
    done = subprocess.run(ask, capture_output=True, text=True, check=True, timeout=60)
    sys.path.append(done.stdout.strip())
    assert find_spec("torch") is not None, f"{lender} has no torch"


_borrow_torch()
