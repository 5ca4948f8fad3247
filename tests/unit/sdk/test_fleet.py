"""How many pods are enough."""

import pytest

from weightrollout.sdk.endpoints import Endpoint
from weightrollout.sdk.fleet import _count


@pytest.mark.parametrize(
    ("pods", "of", "needed"),
    [("100%", 7, 7), ("50%", 7, 4), ("1%", 3, 1), (2, 7, 2), (9, 7, 9), ("100%", 0, 0)],
)
def test_percent_is_a_goal_and_rounds_up(pods: int | str, of: int, needed: int) -> None:
    assert _count(pods, of) == needed


@pytest.mark.parametrize("pods", [0, -1, "0%", "101%", "half", "", True])
def test_what_is_no_goal_is_refused(pods: int | str) -> None:
    with pytest.raises(ValueError, match="pods must be"):
        _count(pods, 5)


def test_address_of_ipv6_is_a_url() -> None:
    assert Endpoint("a", "fd00::1", 8000, "exp.1").url == "http://[fd00::1]:8000"
