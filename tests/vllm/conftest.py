"""Tests of this folder start real engines."""

from pathlib import Path

import pytest

from realvllm import tier


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tier.mark(items, Path(__file__).parent)


@pytest.fixture(scope="session", autouse=True)
def real_vllm() -> None:
    tier.require()
