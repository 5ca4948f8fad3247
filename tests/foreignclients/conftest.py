"""Clients that we did not write need the Python that has vLLM, and take their time to start in it."""

from pathlib import Path

import pytest

from realvllm import tier
from unit.agent.rl.conftest import open_pod

__all__ = ["open_pod"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tier.mark(items, Path(__file__).parent)


@pytest.fixture(scope="session", autouse=True)
def real_vllm() -> None:
    tier.require()
