"""Who is a neighbour, and who is nobody but ourselves: one rule for operator, agent and inject."""

import pytest

from weightrollout.api.addresses import is_loopback


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.99.3.4", True),
        ("[::1]", True),
        ("::1", True),
        ("localhost", True),
        ("10.0.0.1", False),
        ("[fd00::1]", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_which_addresses_are_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
