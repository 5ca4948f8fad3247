"""What all property tests share."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def quiet() -> Iterator[None]:
    """Thousands of calls fail here on purpose: their log would hide the story of the one that matters."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(before)
