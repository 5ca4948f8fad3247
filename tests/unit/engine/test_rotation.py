"""A certificate and its key are read as they were together, also while somebody replaces them."""

from pathlib import Path

from weightrollout.engine.rotation import Rotating


def test_files_that_change_while_they_are_read_are_read_again(tmp_path: Path) -> None:
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_text("first")
    key.write_text("first")
    replaced: list[str] = []

    def read() -> tuple[str, str]:
        found = certificate.read_text()
        if not replaced:
            replaced.append("by somebody else, between the two")
            for path in (certificate, key):
                path.write_text("the second")
        return found, key.read_text()

    rotating = Rotating(certificate, key, None, read, "a test")
    assert not rotating.refresh()
    assert (rotating.good, rotating.why) == (None, f"{certificate}, {key}: being written")
    assert rotating.refresh()
    assert (rotating.good, rotating.why) == (("the second", "the second"), "")
    assert not rotating.refresh()
