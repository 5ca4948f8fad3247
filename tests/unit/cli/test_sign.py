"""`kubectl weightrollout sign` makes what agents and the library's own program accept."""

from pathlib import Path

import pytest
from model_signing import verifying
from typer.testing import CliRunner, Result

from signers import Signer
from weightrollout.api.signature import SIGNATURE_FILE
from weightrollout.cli.main import app
from weightrollout.weights import signatures
from weightrollout.weights.digest import digest_of
from weightrollout.weights.sources.file import Folder


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "step 1200"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"bytes")
    (folder / "config.json").write_text("{}")
    (folder / "README.md").write_text("not counted")
    return folder


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return Signer.made(tmp_path / "signer")


def sign(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["sign", *map(str, arguments)])


def test_signature_lies_beside_the_weights_and_is_what_agents_ask_for(
    checkpoint: Path, signer: Signer
) -> None:
    result = sign(checkpoint, "--key", signer.key)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == digest_of(checkpoint, threads=1) + "\n"
    signed = signatures.read(Folder(checkpoint), signer.by_key, None)
    assert signed.sums.keys() == {"config.json", "model.safetensors"}


def test_certificate_goes_with_the_signature(checkpoint: Path, signer: Signer) -> None:
    assert sign(checkpoint, "--key", signer.key, "--certificate", signer.certificate).exit_code == 0
    assert signatures.read(Folder(checkpoint), signer.by_authority, None).sums


def test_library_itself_accepts_it(checkpoint: Path, signer: Signer, tmp_path: Path) -> None:
    output, public = tmp_path / "here.sig", tmp_path / "public.pem"
    public.write_text(signer.public)
    assert sign(checkpoint.as_uri(), "--key", signer.key, "-o", output).exit_code == 0
    assert not (checkpoint / SIGNATURE_FILE).exists()
    theirs = verifying.Config().use_elliptic_key_verifier(public_key=public)
    theirs.set_ignore_unsigned_files(True).verify(checkpoint, output)
    (checkpoint / "config.json").write_text("[]")
    with pytest.raises(ValueError, match="Hash mismatch"):
        theirs.verify(checkpoint, output)


def test_nothing_is_written_to_a_remote_place(signer: Signer) -> None:
    result = sign("s3://models/chat/", "--key", signer.key)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--output" in result.stderr


def test_what_cannot_sign_is_named_and_leaves_no_signature(
    checkpoint: Path, signer: Signer, tmp_path: Path
) -> None:
    public = tmp_path / "public.pem"
    public.write_text(signer.public)
    other = Signer.made(tmp_path / "other")
    for arguments, said in (
        (("--key", public), str(public)),
        (("--key", tmp_path / "absent"), "absent"),
        (("--key", signer.key, "--certificate", other.certificate), "does not match"),
        (("--key", signer.key, "--chain", signer.certificate), "--certificate"),
    ):
        result = sign(checkpoint, *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert said in result.stderr
    assert not (checkpoint / SIGNATURE_FILE).exists()
