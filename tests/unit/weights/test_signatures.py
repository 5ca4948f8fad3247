"""Weights that must be signed: only those files that the named signer signed become an image."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from model_signing import hashing

import checkpoints
from reports import report_of, with_draft
from signers import ISSUER, WORKFLOW, Signer, keyless, sign_keyless
from smallsigstore import Sigstore
from stagings import visible
from weightrollout.api.signature import SIGNATURE_FILE, Signature
from weightrollout.api.spec import Draft, Metadata
from weightrollout.api.swap import FailureClass
from weightrollout.handover.records import EngineReport, ImageIndex
from weightrollout.weights.build import StageCount
from weightrollout.weights.digest import Bytes, digest_of
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.signatures import MAX_BYTES
from weightrollout.weights.sources.file import Folder
from weightrollout.weights.staging import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return checkpoints.write_checkpoint(tmp_path / "model", seed=1)


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer.made(tmp_path_factory.mktemp("signer") / "one")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer.made(tmp_path_factory.mktemp("signer") / "other")


@pytest.fixture(scope="module")
def sigstore() -> Sigstore:
    return Sigstore.made()


def stage(
    store: Store,
    folder: Path,
    signature: Signature | None,
    *,
    digest: str | None = None,
    report: EngineReport | None = None,
    draft: Draft | None = None,
    progress: Callable[[StageCount], None] = lambda _: None,
) -> ImageIndex:
    return store.stage(
        folder.as_uri(),
        digest=digest,
        reports=[report or report_of(folder)],
        policy=Metadata.REQUIRE,
        progress=progress,
        cancelled=lambda: False,
        draft=draft,
        signature=signature,
    )


def refusal(store: Store, folder: Path, signature: Signature) -> WeightsError:
    """Nothing of it stays."""
    before = visible(store)
    with pytest.raises(WeightsError) as caught:
        stage(store, folder, signature)
    assert visible(store) == before
    return caught.value


def test_weights_that_the_named_key_signed_are_staged_and_that_is_known(
    store: Store, folder: Path, signer: Signer
) -> None:
    signer.sign(folder)
    index = stage(store, folder, signer.by_key)
    assert index.digest == digest_of(folder, threads=1)
    assert store.signed() == {signer.by_key.proof(index.digest)}


def test_weights_whose_signer_a_named_authority_knows_are_staged(
    store: Store, folder: Path, signer: Signer, stranger: Signer
) -> None:
    signer.certify(folder)
    both = Signature(authorities=stranger.authority + signer.authority)
    assert refusal(store, folder, stranger.by_authority).reason is Reason.SIGNATURE_UNTRUSTED
    index = stage(store, folder, both)
    assert store.signed() == {both.proof(index.digest)}


def test_signature_without_a_key_is_checked_offline_against_the_mounted_root(
    tmp_path: Path, folder: Path, sigstore: Sigstore
) -> None:
    sign_keyless(folder, sigstore)
    root = sigstore.trusted_root(tmp_path / "trusted_root.json")
    store = Store(tmp_path / "staging", trusted_root=root)
    for wrong in (
        keyless(identity=WORKFLOW.replace("acme", "acne")),
        keyless(identity="release@acme.example"),
        keyless(issuer=ISSUER + "/"),
    ):
        assert refusal(store, folder, wrong).reason is Reason.SIGNATURE_UNTRUSTED
    index = stage(store, folder, keyless())
    assert store.signed() == {keyless().proof(index.digest)}


def test_signature_of_another_sigstore_is_not_trusted(
    tmp_path: Path, folder: Path, sigstore: Sigstore
) -> None:
    sign_keyless(folder, sigstore)
    root = Sigstore.made().trusted_root(tmp_path / "trusted_root.json")
    store = Store(tmp_path / "staging", trusted_root=root)
    assert refusal(store, folder, keyless()).reason is Reason.SIGNATURE_UNTRUSTED


@pytest.mark.parametrize("root", [None, "absent.json", "config.json"])
def test_agent_without_a_trusted_root_says_so_and_blames_no_weights(
    tmp_path: Path, folder: Path, sigstore: Sigstore, root: str | None
) -> None:
    sign_keyless(folder, sigstore)
    store = Store(tmp_path / "staging", trusted_root=folder / root if root else None)
    error = refusal(store, folder, keyless())
    assert error.reason is Reason.TRUST_ROOT_UNUSABLE
    assert error.failure_class is FailureClass.ENVIRONMENT


def _changed(folder: Path) -> None:
    checkpoints.drop_tensor(folder, "model.norm.weight")
    checkpoints.add_tensor(folder, "model.norm.weight", "F32", (32,))


def _signed_otherwise(how: hashing.Config) -> Callable[[Path, Signer], object]:
    return lambda folder, signer: signer.sign(folder, how)


MISMATCH, MALFORMED = Reason.SIGNATURE_MISMATCH, Reason.SIGNATURE_MALFORMED


@pytest.mark.parametrize(
    ("harm", "reason", "said"),
    [
        (lambda f, _: (f / "golden.json").write_text("{}"), MISMATCH, "golden.json: lies there"),
        (lambda f, _: (f / "a.safetensors").write_bytes(b""), MISMATCH, "a.safetensors: lies"),
        (lambda f, _: (f / "config.json").write_text("{}"), MISMATCH, "was signed"),
        (lambda f, _: (f / "config.json").unlink(), MISMATCH, "config.json: is in the signature"),
        (lambda f, _: (f / SIGNATURE_FILE).unlink(), Reason.SIGNATURE_MISSING, "kubectl"),
        (lambda f, _: (f / SIGNATURE_FILE).write_bytes(b""), MALFORMED, SIGNATURE_FILE),
        (lambda f, _: (f / SIGNATURE_FILE).write_bytes(b"\xff{" * 99), MALFORMED, SIGNATURE_FILE),
        (lambda f, _: (f / SIGNATURE_FILE).write_bytes(b"[" * 99_999), MALFORMED, SIGNATURE_FILE),
        (lambda f, _: (f / SIGNATURE_FILE).write_bytes(b" " * (MAX_BYTES + 1)), MALFORMED, "more"),
        (
            _signed_otherwise(hashing.Config().use_file_serialization(hashing_algorithm="blake2")),
            MALFORMED,
            "blake2",
        ),
        (_signed_otherwise(hashing.Config().use_shard_serialization()), MALFORMED, "shards"),
    ],
    ids=[
        *("small file added", "tensors added", "changed", "missing", "unsigned", "empty"),
        *("garbage", "deep", "huge", "other hash", "shards"),
    ],
)
def test_other_files_than_were_signed_are_refused_by_name(
    store: Store,
    folder: Path,
    signer: Signer,
    harm: Callable[[Path, Signer], object],
    reason: Reason,
    said: str,
) -> None:
    report = report_of(folder)
    signer.sign(folder)
    harm(folder, signer)
    with pytest.raises(WeightsError) as caught:
        stage(store, folder, signer.by_key, report=report)
    assert (caught.value.reason, caught.value.failure_class) == (reason, FailureClass.WEIGHTS)
    assert said in caught.value.message
    assert visible(store) == []


def test_one_changed_bit_of_a_tensor_is_found_in_the_bytes_that_are_staged(
    store: Store, folder: Path, signer: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is as it was signed; who reads it a second time would find nothing."""
    signer.sign(folder)
    opened = Folder.open

    def other(self: Folder, name: str) -> Bytes:
        if not name.endswith(".safetensors"):
            return opened(self, name)
        data = bytearray((self.path / name).read_bytes())
        data[-1] ^= 1
        return io.BytesIO(data)

    monkeypatch.setattr(Folder, "open", other)
    error = refusal(store, folder, signer.by_key)
    assert error.reason is Reason.SIGNATURE_MISMATCH
    assert "safetensors" in error.message


def test_signature_of_another_model_by_the_same_key_is_refused(
    store: Store, folder: Path, signer: Signer, tmp_path: Path
) -> None:
    other = checkpoints.write_checkpoint(tmp_path / "other", seed=2)
    shutil.copy(signer.sign(other), folder)
    assert refusal(store, folder, signer.by_key).reason is Reason.SIGNATURE_MISMATCH


def test_signature_by_another_key_is_refused(
    store: Store, folder: Path, signer: Signer, stranger: Signer, sigstore: Sigstore
) -> None:
    signer.sign(folder)
    for by in (stranger.by_key, signer.by_authority):
        assert refusal(store, folder, by).reason is Reason.SIGNATURE_UNTRUSTED
    # Nor is one of another kind, whoever made it.
    signer.certify(folder)
    assert refusal(store, folder, signer.by_key).reason is Reason.SIGNATURE_UNTRUSTED
    sign_keyless(folder, sigstore)
    for by in (signer.by_key, signer.by_authority):
        assert refusal(store, folder, by).reason is Reason.SIGNATURE_UNTRUSTED


def test_key_that_cannot_have_signed_is_named(store: Store, folder: Path, signer: Signer) -> None:
    signer.sign(folder)
    body = signer.public.splitlines()[1]
    cut = Signature(key=signer.public.replace(body, body[:-8]))
    error = refusal(store, folder, cut)
    assert error.reason is Reason.SIGNATURE_UNTRUSTED
    assert "spec.weights.signature.key" in error.message


def test_files_that_reach_no_engine_are_not_the_signatures_matter(
    store: Store, folder: Path, signer: Signer
) -> None:
    (folder / "README.md").write_text("as it was signed")
    (folder / "original").mkdir()
    (folder / "original" / "model.safetensors").write_bytes(b"signed and not served")
    signer.sign(folder)
    (folder / "README.md").write_text("changed since")
    shutil.rmtree(folder / "original")
    (folder / "notes.txt").write_text("new")
    assert stage(store, folder, signer.by_key)


def test_image_that_was_staged_unsigned_does_not_pass_for_signed(
    store: Store, folder: Path, signer: Signer, stranger: Signer
) -> None:
    signer.sign(folder)
    digest = stage(store, folder, None).digest
    assert store.signed() == frozenset()
    with pytest.raises(WeightsError, match="SignatureUntrusted"):
        stage(store, folder, stranger.by_key, digest=digest)
    assert store.signed() == frozenset()
    stage(store, folder, signer.by_key, digest=digest)
    assert store.signed() == {signer.by_key.proof(digest)}


def test_signed_image_serves_again_without_its_source_and_for_no_other_key(
    store: Store, folder: Path, signer: Signer, stranger: Signer
) -> None:
    """What the way back to the last good weights needs, in another process too."""
    signer.sign(folder)
    report = report_of(folder)
    digest = stage(store, folder, signer.by_key).digest
    shutil.rmtree(folder)
    later = Store(store.root)
    assert stage(later, folder, signer.by_key, digest=digest, report=report).digest == digest
    with pytest.raises(WeightsError, match="SourceNotFound"):
        stage(later, folder, stranger.by_key, digest=digest, report=report)
    later.collect(())
    assert later.signed() == frozenset()


def test_staging_that_was_killed_midway_is_checked_from_the_beginning(
    store: Store, folder: Path, signer: Signer
) -> None:
    signer.sign(folder)
    report = report_of(folder)

    def killed(count: StageCount) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stage(store, folder, signer.by_key, progress=killed)
    assert store.signed() == frozenset()
    _changed(folder)
    with pytest.raises(WeightsError, match="SignatureMismatch"):
        stage(Store(store.root), folder, signer.by_key, report=report)


def test_draft_of_its_own_checkpoint_has_a_signature_of_its_own(
    store: Store, folder: Path, signer: Signer, stranger: Signer, tmp_path: Path
) -> None:
    other = checkpoints.write_draft(tmp_path / "draft", of=folder, seed=2)
    signer.sign(folder)
    stranger.sign(other)
    report = with_draft(report_of(folder), other)
    uri, digest = other.as_uri() + "/", digest_of(other, threads=1)
    unsigned = Draft(uri=uri, digest=digest, signature=signer.by_key)
    with pytest.raises(WeightsError, match=r"SignatureUntrusted: spec\.weights\.draft"):
        stage(store, folder, signer.by_key, report=report, draft=unsigned)
    signed = Draft(uri=uri, digest=digest, signature=stranger.by_key)
    index = stage(store, folder, signer.by_key, report=report, draft=signed)
    assert store.signed() == {
        signer.by_key.proof(index.digest),
        stranger.by_key.proof(digest),
    }
