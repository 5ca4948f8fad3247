"""Who signs checkpoints in tests: with the library's own signers, as people do with its command line."""

import datetime
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import NameOID
from google.protobuf import json_format
from model_signing import hashing, signing
from model_signing._signing.signing import Payload

from smallsigstore import Sigstore
from weightrollout.api.signature import SIGNATURE_FILE, Keyless, Signature

WORKFLOW = "https://github.com/acme/train/.github/workflows/release.yaml@refs/heads/main"
ISSUER = "https://token.actions.githubusercontent.com"


@dataclass(frozen=True)
class Signer:
    """Somebody with a key in a file, and an authority that knows them."""

    key: Path
    public: str
    authority: str
    certificate: Path

    @classmethod
    def made(cls, folder: Path) -> "Signer":
        folder.mkdir(parents=True)
        mine, its = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP384R1())
        name = f"root of {folder.name}"
        root = _certificate(name, name, its, its, authority=True)
        leaf = _certificate("signer", name, mine, its, authority=False)
        key, certificate = folder / "private.pem", folder / "certificate.pem"
        key.write_bytes(mine.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        certificate.write_bytes(leaf.public_bytes(Encoding.PEM))
        public = mine.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return cls(key, public.decode(), root.public_bytes(Encoding.PEM).decode(), certificate)

    @property
    def by_key(self) -> Signature:
        return Signature(key=self.public)

    @property
    def by_authority(self) -> Signature:
        return Signature(authorities=self.authority)

    def sign(self, folder: Path, how: hashing.Config | None = None) -> Path:
        """All files of the folder, whether they count or not."""
        config = signing.Config().use_elliptic_key_signer(private_key=self.key)
        return _written(config, folder, how)

    def certify(self, folder: Path) -> Path:
        config = signing.Config().use_certificate_signer(
            private_key=self.key,
            signing_certificate=self.certificate,
            certificate_chain=[self.certificate],
        )
        return _written(config, folder, None)


def keyless(identity: str = WORKFLOW, issuer: str = ISSUER) -> Signature:
    return Signature(keyless=Keyless(identity=identity, issuer=issuer))


def sign_keyless(folder: Path, sigstore: Sigstore) -> Path:
    payload = Payload(_but_signature().hash(folder))
    said = json_format.MessageToJson(payload.statement.pb).encode()
    target = folder / SIGNATURE_FILE
    target.write_bytes(sigstore.bundle(said, WORKFLOW, ISSUER))
    return target


def _written(config: signing.Config, folder: Path, how: hashing.Config | None) -> Path:
    target = folder / SIGNATURE_FILE
    hasher = (how or hashing.Config()).set_ignored_paths(paths=[SIGNATURE_FILE])
    config.set_hashing_config(hasher).sign(folder, target)
    return target


def _but_signature() -> hashing.Config:
    return hashing.Config().set_ignored_paths(paths=[SIGNATURE_FILE])


def _certificate(
    subject: str,
    issuer: str,
    of: ec.EllipticCurvePrivateKey,
    by: ec.EllipticCurvePrivateKey,
    *,
    authority: bool,
) -> x509.Certificate:
    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    usage = dict.fromkeys(("content_commitment", "key_encipherment"), False)
    usage |= dict.fromkeys(("data_encipherment", "key_agreement"), False)
    usage |= dict.fromkeys(("encipher_only", "decipher_only", "crl_sign"), False)
    usage |= {"key_cert_sign": authority, "digital_signature": not authority}
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(named(subject))
        .issuer_name(named(issuer))
        .public_key(of.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(**usage), critical=True)
        .sign(by, SHA256())
    )
