"""Every saved input is answered as it was when it was reviewed, in bounded time."""

import logging
import time
from pathlib import Path
from typing import Final

import pytest

from corpus.judges import JUDGES, cases

#: Far above what any case takes, far below what a bad one would.
CPU_S: Final = 5.0

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Hundreds of refusals are logged; what counts is the class."""
    caplog.set_level(logging.CRITICAL, "weightrollout")


@pytest.mark.parametrize("kind", JUDGES)
def test_every_saved_input_is_answered_by_its_class(kind: str, tmp_path: Path) -> None:
    judge = JUDGES[kind][1]
    wrong = []
    for case in cases(kind):
        folder = tmp_path / case.path.stem
        folder.mkdir()
        begun = time.process_time()
        try:
            got = judge(case.path.read_bytes(), folder)
        except Exception as error:
            raise AssertionError(f"{kind}/{case.path.name}: no answer") from error
        assert time.process_time() - begun < CPU_S, case.path.name
        if got != case.expected:
            wrong.append(f"{case.path.name}: {got}, not {case.expected}")
    assert not wrong


def test_corpus_is_large_enough_to_mean_something_and_small_enough_to_be_read() -> None:
    saved = [case for kind in JUDGES for case in cases(kind)]
    assert len(saved) >= 500
    assert sum(case.path.stat().st_size for case in saved) < 2_000_000
