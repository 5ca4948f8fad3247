"""What this machine lacks: a test skips and says so, and fails where every tier was asked for."""

import os
from typing import NoReturn

import pytest


def all_asked_for() -> bool:
    return os.environ.get("WEIGHTROLLOUT_REQUIRE_ALL_TIERS") == "1"


def unavailable(why: str) -> NoReturn:
    """Skip, or fail where every tier has to run. `why`: what is missing, and how to get it."""
    if all_asked_for():
        pytest.fail(f"{why} (WEIGHTROLLOUT_REQUIRE_ALL_TIERS=1 asks for it)")
    pytest.skip(why)
