"""Pages about weights, followed by the letter: what their blocks say is typed into a shell, with the placeholders filled in."""

import shutil
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import checkpoints
from localcluster.certificates import Authority
from objectstore import awscli
from objectstore.files import static
from objectstore.front import front
from objectstore.server import S3Server
from objectstore.tls import server_side, trusted
from pages import DOCS, Reader, block, fences
from reports import report_of
from signers import Signer, sign_keyless
from smallsigstore import Sigstore
from sources.reading import QUICK
from weightrollout.api.signature import SIGNATURE_FILE, Signature
from weightrollout.handover.records import ImageIndex
from weightrollout.weights.digest import digest_of
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import never
from weightrollout.weights.staging import Store

SIGNING: Final = "howto/signing.md"


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    checkpoints.write_checkpoint(tmp_path / "step-1200", seed=1)
    return Reader.in_folder(tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=QUICK)


def signature(about: str) -> dict[str, Any]:
    """What the page's manifest says of the signer, in the one with this in it."""
    texts = (each.text for each in fences((DOCS / SIGNING).read_text()) if each.language == "yaml")
    [found] = [yaml.safe_load(each) for each in texts if about in each]
    said: dict[str, Any] = found.get("spec", {}).get("weights", found)["signature"]
    return said


def stage(store: Store, weights: Path, by: Signature) -> ImageIndex:
    return store.stage(
        f"{weights.as_uri()}/",
        digest=None,
        reports=[report_of(weights)],
        progress=lambda _: None,
        cancelled=never,
        signature=by,
    )


def test_weights_signed_as_the_page_says_are_staged_and_changed_ones_are_not(
    reader: Reader, store: Store
) -> None:
    reader.types(block(SIGNING, "openssl"))
    sign = block(SIGNING, "sign /models/chat/step-1200 --key release.key\n")
    [digest] = reader.types(sign.replace("/models/chat/step-1200", str(reader.weights)))
    assert digest == digest_of(reader.weights, threads=1)

    said = signature("version:")
    assert said.keys() == {"key"}
    by = Signature(key=(reader.folder / "release.pub").read_text())
    assert by.key is not None
    assert by.key.splitlines()[0] == said["key"].splitlines()[0]
    assert stage(store, reader.weights, by).digest == digest
    changed = reader.weights / "generation_config.json"
    changed.write_text(changed.read_text() + " ")
    with pytest.raises(WeightsError) as refused:
        stage(store, reader.weights, by)
    assert refused.value.reason is Reason.SIGNATURE_MISMATCH


def test_weights_signed_with_a_certificate_as_the_page_says_are_staged(
    reader: Reader, store: Store
) -> None:
    signer = Signer.made(reader.folder / "signer")
    shutil.copy(signer.key, reader.folder / "release.key")
    for name in ("release.pem", "between.pem"):
        shutil.copy(signer.certificate, reader.folder / name)
    sign = block(SIGNING, "--certificate")
    reader.types(sign.replace("/models/chat/step-1200", str(reader.weights)))
    assert stage(store, reader.weights, signer.by_authority)


def test_keyless_weights_of_the_pages_workflow_are_staged(reader: Reader, tmp_path: Path) -> None:
    """The public Sigstore is played by a small one; its command is asked whether it knows the page's flags."""
    sigstore = Sigstore.made()
    sign_keyless(reader.weights, sigstore)
    root = sigstore.trusted_root(tmp_path / "trusted_root.json")
    store = Store(tmp_path / "staging", threads=2, patience=QUICK, trusted_root=root)
    assert stage(store, reader.weights, Signature.model_validate(signature("keyless:\n")))

    [line] = [
        each for each in block(SIGNING, "sign sigstore").splitlines() if "sign" in each.split()
    ]
    known = "\n".join(reader.types("model_signing sign sigstore --help"))
    for flag in (word for word in line.split() if word.startswith("--")):
        assert flag in known, flag


def test_folder_of_a_web_server_is_read_as_the_page_says(reader: Reader, tmp_path: Path) -> None:
    page = "howto/weights-from-https.md"
    authority = Authority()
    listing, digest = block(page, "sha256sum").splitlines()
    reader.types(listing)
    with front(static(reader.weights), server_side(authority, tmp_path)) as served:
        told = reader.types(
            digest.replace("https://weights.example.com/chat/1200/", f"{served.url}/models/chat/"),
            SSL_CERT_FILE=str(trusted(authority, tmp_path)),
        )
    assert told == [digest_of(reader.weights, threads=1)]


@pytest.fixture
def bucket(reader: Reader, s3: S3Server) -> tuple[str, dict[str, str]]:
    """Its name, and what a reader exports for it, who has an aws command."""
    (reader.folder / "bin" / "aws").symlink_to(awscli.require())
    return s3.bucket(), dict(s3.environment())


def test_versions_are_published_and_signed_in_a_bucket_as_the_pages_say(
    reader: Reader, bucket: tuple[str, dict[str, str]]
) -> None:
    name, environment = bucket
    publish = block("howto/weights-from-s3.md", "aws s3 cp --recursive")
    *_, digest = reader.types(publish.replace("BUCKET", name), **environment)
    assert digest == digest_of(reader.weights, threads=1)

    reader.types(block(SIGNING, "openssl"))
    sign = block(SIGNING, "aws s3 cp model.sig")
    place = f"s3://{name}/chat/1200"
    reader.types(sign.replace("s3://models/chat/step-1200", place), **environment)
    listed = reader.types(f"aws s3 ls {place}/", **environment)
    assert any(line.endswith(SIGNATURE_FILE) for line in listed)
