"""A staging that was cancelled, or has failed, ends at once, whatever its server does."""

import threading
from pathlib import Path

import pytest

from objectstore.front import Answer, silent
from sources.conftest import Stored
from sources.reading import stage_uri
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources.retry import Patience
from weightrollout.weights.staging import Store

#: Longer than a test may take, so that none can end by it.
LASTING = Patience(attempts=1000, first_s=600, most_s=600, deadline_s=600)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=LASTING)


@pytest.mark.parametrize("part", ["list-type", "/config.json", "/model-00001"])
@pytest.mark.parametrize("busy", [True, False], ids=["busy", "silent"])
@pytest.mark.timeout(60)
def test_cancelled_staging_ends_while_its_server_does_not_answer(
    store: Store, stored: Stored, part: str, busy: bool
) -> None:
    cancelled = threading.Event()

    def stall(answer: Answer) -> Answer:
        cancelled.set()
        return Answer(503) if busy else silent(answer)

    stored.front.spoil(part, stall)
    with pytest.raises(WeightsError) as caught:
        stage_uri(stored.folder, stored.uri, store, cancelled=cancelled.is_set)
    assert caught.value.reason is Reason.STAGING_CANCELLED
