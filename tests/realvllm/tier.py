"""Whether this machine can run tests against a real vLLM. Without the environment they skip and say so."""

from __future__ import annotations

import os

import pytest

from realvllm import venv


def require() -> None:
    """Skip where the environment was not built; fail where every tier was asked for."""
    if venv.is_built():
        return
    why = "no real vLLM on this machine: `make vllm` builds one (6 GB, about 4 minutes)"
    if os.environ.get("WEIGHTROLLOUT_REQUIRE_ALL_TIERS") == "1":
        pytest.fail(f"{why}, and WEIGHTROLLOUT_REQUIRE_ALL_TIERS=1 asks for it")
    pytest.skip(why)
