"""Files of certificates: read again when they change, never worse than the last good reading."""

import logging
from pathlib import Path

import pytest

from localcluster.certificates import Authority
from weightrollout.engine.errors import EngineUnreachable
from weightrollout.engine.tls import REFUSED, TlsFiles, TlsReader


@pytest.fixture
def files(tmp_path: Path) -> TlsFiles:
    authority = Authority()
    leaf = authority.issue("agent")
    (tmp_path / "ca.pem").write_bytes(authority.certificate)
    (tmp_path / "tls.crt").write_bytes(leaf.certificate)
    (tmp_path / "tls.key").write_bytes(leaf.key)
    return TlsFiles(tmp_path / "ca.pem", tmp_path / "tls.crt", tmp_path / "tls.key")


def test_unchanged_files_are_not_read_again(files: TlsFiles) -> None:
    reader = TlsReader(files)
    assert reader.current() is reader.current()


def test_changed_files_are_another_generation(files: TlsFiles) -> None:
    reader = TlsReader(files)
    first = reader.current()
    files.ca.write_bytes(files.ca.read_bytes() + Authority().certificate)
    assert reader.current().generation != first.generation


def test_unreadable_files_leave_the_last_good_reading_in_force_and_are_told_once(
    files: TlsFiles, caplog: pytest.LogCaptureFixture
) -> None:
    reader = TlsReader(files)
    good = reader.current()
    assert files.key is not None
    files.key.write_text("no PEM at all")
    with caplog.at_level(logging.WARNING):
        assert reader.current() is good
        assert reader.current() is good
    [told] = caplog.messages
    assert "the earlier ones stay in force" in told


def test_key_of_another_certificate_is_named_with_it(files: TlsFiles) -> None:
    assert files.key is not None
    files.key.write_bytes(Authority().issue("stranger").key)
    with pytest.raises(EngineUnreachable, match=r"tls\.crt and .*tls\.key do not belong together"):
        TlsReader(files).current()


def test_file_that_is_not_there_is_named(files: TlsFiles) -> None:
    files.ca.unlink()
    with pytest.raises(EngineUnreachable, match=r"ca\.pem.*No such file") as caught:
        TlsReader(files).current()
    assert caught.value.reason == REFUSED
