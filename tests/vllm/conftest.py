"""Tests of this folder start real engines: minutes, 2 GB each, never more than two at once."""

from pathlib import Path

import pytest

from realvllm import tier

HERE = Path(__file__).parent
#: Two starts on a busy machine, and what is asked then.
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
