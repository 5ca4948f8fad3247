"""docs/history.md says what the types say."""

from pathlib import Path

import pytest

from weightrollout.api.conditions import RollbackReadyReason
from weightrollout.api.spec import MAX_HISTORY, WeightRolloutSpec

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "history.md").read_text()


@pytest.mark.parametrize("reason", list(RollbackReadyReason))
def test_every_reason_of_the_way_back_is_explained(reason: RollbackReadyReason) -> None:
    assert f"| `{reason}` |" in PAGE


def test_limits_of_the_history_are_those_of_the_schema() -> None:
    default = WeightRolloutSpec().revision_history_limit
    assert f"(default {default}, 0 to {MAX_HISTORY})" in PAGE
