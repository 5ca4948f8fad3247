"""Whatever the API server does to a call is an SdkError that says what is known, and its cause is kept."""

import pytest

from weightrollout.kube.errors import Conflict, Forbidden, KubeError, NotFound, Unavailable
from weightrollout.sdk import ClusterFailed, FleetNotFound, SdkError
from weightrollout.sdk.errors import typed
from weightrollout.sdk.state import state_of

SEEN = state_of({"metadata": {"name": "chat", "namespace": "ml", "generation": 1}})


@pytest.mark.parametrize("cause", [Unavailable("late"), Forbidden("no"), Conflict("old")], ids=repr)
def test_call_that_failed_is_told_with_the_fleet_as_it_was_seen_last(cause: KubeError) -> None:
    with pytest.raises(ClusterFailed) as failed, typed([SEEN]):
        raise cause
    assert (failed.value.reason, failed.value.state) == (cause.reason, SEEN)
    assert failed.value.__cause__ is cause


def test_what_is_not_there_is_told_apart_also_where_nothing_was_seen() -> None:
    with pytest.raises(FleetNotFound) as missing, typed([]):
        raise NotFound("weightrollouts chat")
    assert missing.value.state is None


def test_sdk_errors_and_mistakes_go_through_unchanged() -> None:
    for error in (SdkError("Stale", "no"), ValueError("pods")):
        with pytest.raises(type(error)) as same, typed([SEEN]):
            raise error
        assert same.value is error
