"""Stage from a URI, with a patience that tests can wait for."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from reports import report_of
from stagings import finished
from weightrollout.api.swap import FailureClass
from weightrollout.handover.records import ImageIndex
from weightrollout.weights import sources
from weightrollout.weights.errors import WeightsError
from weightrollout.weights.sources.retry import Patience
from weightrollout.weights.staging import Store

QUICK: Final = Patience(attempts=3, first_s=0.01, most_s=0.05, deadline_s=0.5)


def stage_uri(
    folder: Path, uri: str, store: Store, *, cancelled: Callable[[], bool] = sources.never
) -> ImageIndex:
    """For an engine that was started with `folder`."""
    return store.stage(
        uri,
        digest=None,
        reports=[report_of(folder)],
        progress=lambda _: None,
        cancelled=cancelled,
    )


def refusal(folder: Path, uri: str, store: Store) -> WeightsError:
    """Of the environment's class, and nothing of it can be seen."""
    with pytest.raises(WeightsError) as caught:
        stage_uri(folder, uri, store)
    assert caught.value.failure_class is FailureClass.ENVIRONMENT
    assert finished(store) == []
    return caught.value
