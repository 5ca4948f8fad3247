"""What a shell offers behind `kubectl weightrollout`."""

import pytest

from weightrollout.cli.completion import completions


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["pro"], ["promote", ":4"]),
        (["status", "-o", ""], ["text", "json", "yaml", ":4"]),
        (["promote", "--fu"], ["--full", ":4"]),
        (["plan", "-f", ""], [":0"]),  # files are the shell's
    ],
)
def test_kubectl_is_told_what_may_follow(words: list[str], offered: list[str]) -> None:
    assert completions(words) == offered


def test_names_that_cannot_be_read_offer_nothing_and_say_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    assert completions(["status", ""]) == [":0"]
    assert capsys.readouterr().err == ""
