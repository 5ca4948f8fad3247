"""Who may edit a WeightRollout must not choose what the operator connects to."""

import pytest
from yarl import URL

from weightrollout.controller.measuring.hosts import NOBODY, address_of, hosts_of

PROMETHEUS = ["prometheus.monitoring:9090", "judge.example"]


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://prometheus.monitoring:9090", True),
        ("http://PROMETHEUS.monitoring:9090/api", True),
        ("https://judge.example/x", True),
        ("http://judge.example:80/x", True),
        ("http://prometheus.monitoring", False),  # another port
        ("http://prometheus.monitoring:9091", False),
        ("https://judge.example:8443", False),
        ("http://judge.example.evil", False),
        ("http://evil-judge.example", False),
        ("http://judge.example@evil", False),
        ("http://evil/judge.example", False),
        ("http://169.254.169.254/latest", False),
        ("file:///etc/passwd", False),
        ("gopher://judge.example", False),
        ("//judge.example", False),
        ("", False),
    ],
)
def test_only_host_and_port_of_the_list_are_asked(url: str, allowed: bool) -> None:
    assert hosts_of(PROMETHEUS).allow(URL(url)) is allowed


def test_nobody_is_asked_where_nothing_was_said() -> None:
    assert not NOBODY.allow(URL("http://localhost"))
    assert not hosts_of([]).allow(URL("http://localhost"))


def test_address_of_ipv6_has_brackets() -> None:
    assert hosts_of(["[::1]:9090"]).allow(URL("http://[::1]:9090/x"))


@pytest.mark.parametrize(
    "entry", ["", " ", "http://x", "x/y", "*.example", "a@b", "x:port", "x:99999", ":80"]
)
def test_an_entry_that_is_no_host_is_refused_at_the_start(entry: str) -> None:
    with pytest.raises(ValueError, match="--analysis-host"):
        hosts_of([entry])


@pytest.mark.parametrize(
    "address", ["prometheus:9090", "ftp://x", "http://", "http://u:p@x", "http://x/?q=1", "x"]
)
def test_a_prometheus_that_is_no_base_url_is_refused_at_the_start(address: str) -> None:
    with pytest.raises(ValueError, match=r"http|URL|[Hh]ost"):
        address_of(address)
