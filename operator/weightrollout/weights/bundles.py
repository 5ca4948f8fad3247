"""OpenSSF model signatures: the only place that knows the library and what its files look like.

Imported when the first one is needed: the library brings all of Sigstore's client with it, and takes a second.
It offers to verify folders, and would read each a second time; its verifiers below that, which say what was
signed, are internal to it (hence the bound in pyproject.toml and tests/unit/weights/test_signatures.py).
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from weightrollout.api.signature import Keyless, Signature
from weightrollout.weights.errors import Reason, WeightsError

T = TypeVar("T")

PAYLOAD: Final = "application/vnd.in-toto+json"
STATEMENT: Final = "https://in-toto.io/Statement/v1"
_UNTRUSTED: Final = Reason.SIGNATURE_UNTRUSTED
_MALFORMED: Final = Reason.SIGNATURE_MALFORMED
#: What the library says of a failure goes to people, as far as it fits.
_MOST_WORDS: Final = 200


def signed_files(
    bundle: bytes, by: Signature, trusted_root: Path | None, where: str
) -> dict[str, str]:
    """Path in the folder -> sha256 hex of each file that the signer named.

    Raises WeightsError: SignatureMalformed, SignatureUntrusted, TrustRootUnusable.
    """
    from model_signing._signing import sign_sigstore, sign_sigstore_pb

    with ExitStack() as stack:

        def path(data: bytes) -> Path:
            return stack.enter_context(_file(data))

        verifier = _verifier(by, trusted_root, path)
        file = path(bundle)
        signature = _tried(lambda: sign_sigstore_pb.Signature.read(file), _MALFORMED, where)
        if _method(signature.bundle.verification_material) != _asked(by):
            raise WeightsError(
                _UNTRUSTED,
                f"{where}: was not made by {_asked(by)}, which spec.weights.signature has",
            )
        if by.keyless is not None:
            signature = _tried(lambda: sign_sigstore.Signature.read(file), _MALFORMED, where)
        kind, payload = _tried(
            lambda: verifier._verify_signed_content(signature), _UNTRUSTED, where
        )
    return _tried(lambda: _listed(kind, payload), _MALFORMED, where)


def _method(material: Any) -> str:
    if material.public_key is not None:
        return "key"
    chained = material.x509_certificate_chain is not None and not material.tlog_entries
    return "authorities" if chained else "keyless"


def _asked(by: Signature) -> str:
    return "key" if by.key else "authorities" if by.authorities else "keyless"


def _verifier(by: Signature, trusted_root: Path | None, path: Callable[[bytes], Path]) -> Any:
    """The library's own."""
    from model_signing._signing import sign_certificate, sign_ec_key

    if by.key is not None:
        key, what = path(by.key.strip().encode()), "spec.weights.signature.key"
        return _tried(lambda: sign_ec_key.Verifier(key), _UNTRUSTED, what)
    if by.authorities is not None:
        chain = [path(by.authorities.strip().encode() + b"\n")]
        what = "spec.weights.signature.authorities"
        return _tried(lambda: sign_certificate.Verifier(chain), _UNTRUSTED, what)
    assert by.keyless is not None
    return _keyless(by.keyless, _root(trusted_root))


def _keyless(who: Keyless, root: Any) -> Any:
    """The library's own takes a client's whole configuration; only the trusted root matters here."""
    from model_signing._signing import sign_sigstore
    from sigstore.verify import Verifier, policy

    verifier = object.__new__(sign_sigstore.Verifier)
    verifier._verifier = Verifier(trusted_root=root)
    verifier._policy = policy.Identity(identity=who.identity, issuer=who.issuer)
    return verifier


def _root(path: Path | None) -> Any:
    """Nothing is asked over the network: neither for a newer root nor about a log's entry."""
    from sigstore.models import TrustedRoot

    if path is None:
        raise WeightsError(
            Reason.TRUST_ROOT_UNUSABLE,
            "spec.weights.signature.keyless needs Sigstore's trusted root: mount its"
            " trusted_root.json into the agent and name it by --sigstore-trusted-root",
        )
    return _tried(lambda: TrustedRoot.from_file(str(path)), Reason.TRUST_ROOT_UNUSABLE, str(path))


def _listed(kind: str, payload: bytes) -> dict[str, str]:
    from model_signing._signing.signing import dsse_payload_to_manifest

    statement = json.loads(payload)
    if kind != PAYLOAD or statement["_type"] != STATEMENT:
        raise ValueError("is signed, and says nothing about a model")
    manifest = dsse_payload_to_manifest(statement)
    how: Mapping[str, Any] = manifest.serialization_type
    if (how["method"], how["hash_type"]) != ("files", "sha256"):
        raise ValueError(
            f"is of {how['hash_type']} of {how['method']}: sign again with sha256 of whole files"
        )
    return {each.identifier: each.digest.digest_hex for each in manifest.resource_descriptors()}


def _tried(call: Callable[[], T], reason: Reason, where: str) -> T:
    """What a stranger's bytes make of a library is no crash of ours."""
    try:
        return call()
    except Exception as error:
        words = " ".join(str(error).split())[:_MOST_WORDS]
        said = f"{type(error).__name__}: {words}" if words else type(error).__name__
        raise WeightsError(reason, f"{where}: {_MEANING[reason]} ({said})") from error


_MEANING: Final = {
    Reason.SIGNATURE_MALFORMED: "is no OpenSSF model signature that can be used",
    Reason.SIGNATURE_UNTRUSTED: "is not by whom spec.weights.signature names",
    Reason.TRUST_ROOT_UNUSABLE: "is no trusted_root.json of Sigstore that can be read",
}


@contextmanager
def _file(data: bytes) -> Iterator[Path]:
    """The library reads paths. In memory: an agent's root file system is read-only."""
    descriptor = os.memfd_create("signature")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


class NotSigned(Exception):
    """The message says which file cannot be used, and why."""


def signature_of(
    sums: Mapping[str, str], model: str, key: Path, certificate: Path | None, chain: Path | None
) -> bytes:
    """The bundle, of the files in `sums`: name -> sha256 hex. Raises NotSigned, OSError."""
    from model_signing import manifest
    from model_signing._hashing.hashing import Digest
    from model_signing._signing import sign_certificate, sign_ec_key
    from model_signing._signing.signing import Payload

    how = {"method": "files", "hash_type": "sha256", "allow_symlinks": False}
    serialization = manifest.SerializationType.from_args(how)
    items = [
        serialization.new_item(name, Digest("sha256", bytes.fromhex(sums[name])))
        for name in sorted(sums)
    ]
    password = os.environ.get("WEIGHTROLLOUT_KEY_PASSWORD")
    try:
        if certificate is None:
            signer = sign_ec_key.Signer(key, password.encode() if password else None)
        else:
            # It reads no empty chain; the signer's own again leads nowhere else.
            signer = sign_certificate.Signer(key, certificate, [chain or certificate])
        payload = Payload(manifest.Manifest(model, items, serialization))
        bundle: str = signer.sign(payload).bundle.to_json()
    except OSError:
        raise
    except Exception as error:
        words = " ".join(str(error).split())[:_MOST_WORDS]
        raise NotSigned(f"{key}: cannot sign ({type(error).__name__}: {words})") from error
    return bundle.encode()
