"""Make the keys and certificates of a throw-away cluster: one authority, a few leaves, the ServiceAccount key."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME: Final = datetime.timedelta(days=30)
CLOCK_SLACK: Final = datetime.timedelta(hours=1)

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True)
class Leaf:
    """A certificate and its key, both PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """A certificate authority that lives in memory; elliptic curves, as an RSA key takes a second to find."""

    def __init__(self) -> None:
        """Make a new one."""
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localcluster-ca")])
        basic = x509.BasicConstraints(ca=True, path_length=None)
        signs = _key_usage(signs=True)
        builder = _builder(self._name, self._name, self._key, self._key)
        builder = builder.add_extension(basic, critical=True).add_extension(signs, critical=True)
        self.certificate = builder.sign(self._key, hashes.SHA256()).public_bytes(
            serialization.Encoding.PEM
        )
        self.key = key_pem(self._key)

    def issue(self, name: str, organization: str | None = None, hosts: Sequence[str] = ()) -> Leaf:
        """A certificate for a client (user `name` in group `organization`), and for a server at `hosts`."""
        key = ec.generate_private_key(ec.SECP256R1())
        parts = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
        if organization:
            parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
        usage = x509.ExtendedKeyUsage(
            [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        )
        builder = _builder(x509.Name(parts), self._name, key, self._key).add_extension(
            usage, critical=False
        )
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_general(h) for h in hosts]), critical=False
            )
        certificate = builder.sign(self._key, hashes.SHA256()).public_bytes(
            serialization.Encoding.PEM
        )
        return Leaf(certificate, key_pem(key))


def service_account_key() -> tuple[bytes, bytes]:
    """(private, public) PEM of the key that signs ServiceAccount tokens: RSA, as in clusters that agents will meet."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return key_pem(key), public


def key_pem(key: PrivateKey) -> bytes:
    """A private key as unencrypted PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    issuer_key: ec.EllipticCurvePrivateKey,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(
        issuer_key.public_key()
    )  # Python 3.13 insists on these
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SLACK)
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(authority, critical=False)
    )


def _key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
