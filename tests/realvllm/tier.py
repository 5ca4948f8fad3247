"""Whether this machine can run tests against a real vLLM. Without the environment they skip and say so."""

from __future__ import annotations

from realvllm import venv
from tiers import unavailable


def require() -> None:
    """Skip where the environment was not built; fail where every tier was asked for."""
    if venv.is_built():
        return
    unavailable("no real vLLM on this machine: `make vllm` builds one (6 GB, about 4 minutes)")
