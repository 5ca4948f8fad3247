"""The operator's flags about calls to agents: those that do not fit together are refused by name, before anything starts."""

import logging

import pytest

from weightrollout.controller.main import CANNOT_WORK, main

PAIR = ("--agent-certificate=/c.pem", "--agent-key=/k.pem")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((PAIR[0], "--agent-ca=/ca.pem"), "--agent-certificate and --agent-key"),
        (PAIR, "--agent-ca: needed"),
        (("--agent-server-name=x",), "--agent-ca: needed"),
        (("--agent-identity=certificate",), "--agent-identity certificate needs"),
        (
            ("--agent-identity=certificate", "--agent-ca=/ca.pem"),
            "--agent-identity certificate needs",
        ),
    ],
)
def test_flags_that_do_not_fit_together_are_refused_by_name(
    flags: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = logging.root.handlers[:], logging.root.level
    try:
        assert main(["--namespace=ns", *flags]) == CANNOT_WORK
    finally:
        logging.root.handlers[:], logging.root.level = before
    assert message in capsys.readouterr().err
