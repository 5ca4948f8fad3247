"""`make demo` with a choice that there is not says which there are, and starts nothing."""

import pytest

from demo import __main__ as program


@pytest.mark.parametrize(
    ("name", "known"), [("SOURCE", "file, s3"), ("ENGINE", "simulator, vllm"), ("PAYLOAD", "tiny")]
)
def test_unknown_choice_is_refused_with_those_there_are(
    name: str, known: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, "floppy")
    assert program.main() == 2
    said = capsys.readouterr().err
    assert f"{name}=floppy" in said
    assert known in said
