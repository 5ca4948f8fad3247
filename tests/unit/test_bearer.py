"""Only who brings the file's token is let in."""

from pathlib import Path

import pytest

from weightrollout.bearer import NoToken, brings

TOKEN = "a token of thirty-two characters"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    return path


@pytest.mark.parametrize("said", [f"Bearer {TOKEN}", f"bearer  {TOKEN} "])
def test_token_is_taken_however_it_is_written(said: str, file: Path) -> None:
    assert brings(said, file)


@pytest.mark.parametrize(
    "said", ["", TOKEN, "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ü"]
)
def test_anything_else_is_refused(said: str, file: Path) -> None:
    assert not brings(said, file)


def test_file_that_is_missing_or_too_short_lets_nobody_in(tmp_path: Path) -> None:
    with pytest.raises(NoToken, match="No such file"):
        brings(f"Bearer {TOKEN}", tmp_path / "none")
    for short in ("", "x" * 15):
        (tmp_path / "short").write_text(short)
        with pytest.raises(NoToken, match="at least 16"):
            brings(f"Bearer {short}", tmp_path / "short")
