"""Clients that we did not write need the Python that has vLLM, and take their time to start in it."""

from pathlib import Path

import pytest

from realvllm import tier
from unit.agent.rl.conftest import open_pod

__all__ = ["open_pod"]

HERE = Path(__file__).parent
TEST_S = 2400


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.real_engine)
            item.add_marker(pytest.mark.timeout(TEST_S))


@pytest.fixture(scope="session", autouse=True)
def real_vllm() -> None:
    """Skip, or fail where every tier was asked for, when there is no vLLM on this machine."""
    tier.require()
