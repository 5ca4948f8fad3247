"""Whether this machine can run tests against a real vLLM. Without the environment they skip and say so."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from realvllm import venv
from tiers import unavailable

#: Two starts on a busy machine, and what is asked then.
TEST_S: Final = 2400


def mark(items: Iterable[pytest.Item], folder: Path) -> None:
    """Tests of a folder that start real engines: minutes, 2 GB each, never more than two at once."""
    for item in items:
        if folder in item.path.parents:
            item.add_marker(pytest.mark.real_engine)
            item.add_marker(pytest.mark.timeout(TEST_S))


def require() -> None:
    """Skip where the environment was not built; fail where every tier was asked for."""
    if venv.is_built():
        return
    unavailable("no real vLLM on this machine: `make vllm` builds one (6 GB, about 4 minutes)")
