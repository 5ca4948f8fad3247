"""`kubectl weightrollout digest` names what agents will stage, and fails as they do."""

import pytest
from typer.testing import CliRunner

from sources.conftest import Stored
from weightrollout.cli.main import app
from weightrollout.weights.digest import digest_of


def test_digest_of_a_bucket_is_that_of_the_folder(stored: Stored) -> None:
    result = CliRunner().invoke(app, ["digest", stored.uri])
    assert (result.exit_code, result.stdout) == (0, digest_of(stored.folder, threads=1) + "\n")


def test_store_that_refuses_is_told_in_one_line(stored: Stored) -> None:
    stored.front.say("list-type", 403)
    result = CliRunner().invoke(app, ["digest", stored.uri])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "credentials are missing, expired, or not enough" in result.stderr
    assert "SECRET" not in result.stderr


@pytest.mark.parametrize("uri", ["s3://key:hidden@bucket/a/", "https://host/?token=hidden"])
def test_credential_in_a_uri_is_not_repeated(uri: str) -> None:
    result = CliRunner().invoke(app, ["digest", uri])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "hidden" not in result.stderr
