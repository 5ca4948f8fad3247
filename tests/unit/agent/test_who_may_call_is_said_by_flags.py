"""An agent that does not ask who calls listens on loopback only; flags that do not fit together are refused by name."""

import argparse
import re
from pathlib import Path

import pytest

from weightrollout.agent import caller_flags
from weightrollout.agent.settings import BadFlag, check, parse
from weightrollout.api import names

PAPER = Path(__file__).parents[3] / "docs" / "authentication.md"
ACCOUNT = "--operator-account=system:serviceaccount:ns:weightrollout-operator"
POD = ("--pod-namespace=ns", "--pod-uid=u")
JWKS = "--jwks=/keys.json"
PAIR = ("--tls-certificate=/c.pem", "--tls-key=/k.pem")


@pytest.fixture(autouse=True)
def _outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KUBERNETES_SERVICE_HOST", names.ENV_POD_NAMESPACE, names.ENV_POD_UID):
        monkeypatch.delenv(name, raising=False)


def checked(folder: Path, *flags: str) -> None:
    check(parse([f"--staging={folder}", f"--handover={folder}", *flags]))


@pytest.mark.parametrize("flag", ["--grpc-bind", "--http-bind"])
@pytest.mark.parametrize("bind", ["0.0.0.0:1", "[::]:1", "10.1.2.3:1", "chat-0:1"])
def test_without_a_rule_about_callers_only_loopback_is_listened_on(
    tmp_path: Path, flag: str, bind: str
) -> None:
    with pytest.raises(BadFlag, match=r"--operator-account .* or --client-ca"):
        checked(tmp_path, f"{flag}={bind}")


@pytest.mark.parametrize("bind", ["127.0.0.1:1", "127.64.3.2:1", "[::1]:1", "localhost:1"])
def test_on_loopback_there_may_be_no_rule(tmp_path: Path, bind: str) -> None:
    checked(tmp_path, f"--grpc-bind={bind}", f"--http-bind={bind}")


@pytest.mark.parametrize("bind", ["0.0.0.0:1", "[::]:1", "10.1.2.3:1", "fd00::7:1"])
def test_with_a_rule_any_address_may_be_listened_on(tmp_path: Path, bind: str) -> None:
    checked(tmp_path, f"--grpc-bind={bind}", f"--http-bind={bind}", ACCOUNT, *POD, JWKS)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((ACCOUNT, JWKS), "--pod-namespace and --pod-uid"),
        ((ACCOUNT, *POD), "--jwks FILE or URL"),
        ((ACCOUNT, *POD, "--jwks=http://x/"), "must be https://"),
        (("--operator-account=me", *POD, JWKS), "must be system:serviceaccount:"),
        ((PAIR[0],), "give both or none"),
        (PAIR, "without a rule about who may call"),
        (("--client-ca=/ca.pem", "--client-name=x"), "needs --tls-certificate"),
        (("--client-ca=/ca.pem", *PAIR), "whom it ever signed"),
        (("--client-name=x", ACCOUNT, *POD, JWKS), "--client-name needs --client-ca"),
    ],
)
def test_flags_that_do_not_fit_together_are_refused_by_name(
    tmp_path: Path, flags: tuple[str, ...], message: str
) -> None:
    with pytest.raises(BadFlag, match=message):
        checked(tmp_path, *flags)


@pytest.mark.parametrize(("host", "url"), [("10.0.0.1", "10.0.0.1"), ("fd00::1", "[fd00::1]")])
def test_in_a_pod_everything_but_the_account_is_known(
    monkeypatch: pytest.MonkeyPatch, host: str, url: str
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    monkeypatch.setenv(names.ENV_POD_NAMESPACE, "serving")
    monkeypatch.setenv(names.ENV_POD_UID, "uid")
    callers = parse(["--staging=/s", "--handover=/h", ACCOUNT]).callers
    assert callers.jwks == f"https://{url}:6443/openid/v1/jwks"
    assert (callers.pod_namespace, callers.pod_uid) == ("serving", "uid")


def test_every_flag_about_callers_has_its_line_in_authentication() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    caller_flags.add(parser)
    flags = set(re.findall(r"--[a-z-]+", parser.format_usage()))
    assert len(flags) > 5
    told = set(re.findall(r"--[a-z-]+", PAPER.read_text()))
    assert flags - told == set()
