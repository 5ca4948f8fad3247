"""A Sigstore of the test's own, offline: certificate authority, certificate log, and transparency log.

It makes keyless bundles as the real one does, certificate with its log's timestamp and entry with its
proof of inclusion, so that the real library verifies all of them against `trusted_root`.
"""

import base64
import datetime
import hashlib
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rfc8785
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

Key = ec.EllipticCurvePrivateKey

_ISSUER = ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
_TIMESTAMPS = ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
_PAYLOAD = "application/vnd.in-toto+json"


@dataclass(frozen=True)
class Sigstore:
    authority: Key
    root: x509.Certificate
    certificate_log: Key
    log: Key

    @classmethod
    def made(cls) -> "Sigstore":
        authority, certificate_log, log = (ec.generate_private_key(ec.SECP256R1()) for _ in "abc")
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "small sigstore")])
        root = (
            _certificate(name, name, authority, hours=24)
            .add_extension(x509.BasicConstraints(ca=True, path_length=1), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(authority.public_key()), critical=False
            )
            .sign(authority, SHA256())
        )
        return cls(authority, root, certificate_log, log)

    def trusted_root(self, path: Path) -> Path:
        valid = {"start": _stamp(self.root.not_valid_before_utc)}
        logs = [
            {
                "baseUrl": f"https://{name}.invalid",
                "hashAlgorithm": "SHA2_256",
                "publicKey": {
                    "rawBytes": _b64(_spki(key)),
                    "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": valid,
                },
                "logId": {"keyId": _b64(_key_id(key))},
            }
            for name, key in (("log", self.log), ("certificates", self.certificate_log))
        ]
        authority = {
            "subject": {"organization": "small", "commonName": "small sigstore"},
            "uri": "https://authority.invalid",
            "certChain": {"certificates": [{"rawBytes": _b64(_der(self.root))}]},
            "validFor": valid,
        }
        said = {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": logs[:1],
            "certificateAuthorities": [authority],
            "ctlogs": logs[1:],
            "timestampAuthorities": [],
        }
        path.write_text(json.dumps(said))
        return path

    def bundle(self, statement: bytes, identity: str, issuer: str) -> bytes:
        """Of what `identity` signed now."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._signers(key, identity, issuer)
        said = b"DSSEv1 %d %s %d %s" % (
            *(len(_PAYLOAD), _PAYLOAD.encode()),
            *(len(statement), statement),
        )
        signature = key.sign(said, ec.ECDSA(SHA256()))
        material = {
            "certificate": {"rawBytes": _b64(_der(certificate))},
            "tlogEntries": [self._entry(statement, signature, certificate)],
        }
        envelope = {
            "payload": _b64(statement),
            "payloadType": _PAYLOAD,
            "signatures": [{"sig": _b64(signature)}],
        }
        bundle = {
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": material,
            "dsseEnvelope": envelope,
        }
        return json.dumps(bundle).encode()

    def _signers(self, key: Key, identity: str, issuer: str) -> x509.Certificate:
        """For ten minutes, with the word of the certificate log in it."""
        builder = (
            _certificate(x509.Name([]), self.root.subject, key, hours=1 / 6)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.authority.public_key()),
                critical=False,
            )
            .add_extension(
                x509.SubjectAlternativeName([x509.UniformResourceIdentifier(identity)]),
                critical=True,
            )
            .add_extension(x509.UnrecognizedExtension(_ISSUER, issuer.encode()), critical=False)
        )
        before = builder.sign(self.authority, SHA256())
        stamps = x509.UnrecognizedExtension(_TIMESTAMPS, self._logged(before))
        return builder.add_extension(stamps, critical=False).sign(self.authority, SHA256())

    def _logged(self, before: x509.Certificate) -> bytes:
        """RFC 6962: a list with one timestamp, of the certificate as it was without that list."""
        millis = int(datetime.datetime.now(datetime.UTC).timestamp()) * 1000
        body = before.tbs_certificate_bytes
        entry = _key_id(self.authority) + len(body).to_bytes(3, "big") + body
        said = struct.pack("!BBQH", 0, 0, millis, 1) + entry + b"\0\0"
        signature = self.certificate_log.sign(said, ec.ECDSA(SHA256()))
        stamp = b"\0" + _key_id(self.certificate_log) + struct.pack("!Q", millis) + b"\0\0\4\3"
        stamp += struct.pack("!H", len(signature)) + signature
        stamps = struct.pack("!H", len(stamp)) + stamp
        stamps = struct.pack("!H", len(stamps)) + stamps
        return b"\x04" + _der_length(stamps) + stamps

    def _entry(
        self, statement: bytes, signature: bytes, certificate: x509.Certificate
    ) -> dict[str, Any]:
        """The only one of its log, so that its hash is the root."""
        verifier = _b64(certificate.public_bytes(Encoding.PEM))
        spec = {
            "envelopeHash": {"algorithm": "sha256", "value": "00" * 32},
            "payloadHash": {"algorithm": "sha256", "value": hashlib.sha256(statement).hexdigest()},
            "signatures": [{"signature": _b64(signature), "verifier": verifier}],
        }
        body = _canonical({"apiVersion": "0.0.1", "kind": "dsse", "spec": spec})
        root = hashlib.sha256(b"\0" + body).digest()
        note = f"log.invalid - 1\n1\n{_b64(root)}\n"
        signed = self.log.sign(note.encode(), ec.ECDSA(SHA256()))
        name = _b64(_key_id(self.log)[:4] + signed)
        now = int(datetime.datetime.now(datetime.UTC).timestamp())
        promise: dict[str, Any] = {
            "body": _b64(body),
            "integratedTime": now,
            "logID": _key_id(self.log).hex(),
            "logIndex": 0,
        }
        stamp = self.log.sign(_canonical(promise), ec.ECDSA(SHA256()))
        return {
            "logIndex": "0",
            "logId": {"keyId": _b64(_key_id(self.log))},
            "kindVersion": {"kind": "dsse", "version": "0.0.1"},
            "integratedTime": str(now),
            "inclusionPromise": {"signedEntryTimestamp": _b64(stamp)},
            "inclusionProof": {
                "logIndex": "0",
                "rootHash": _b64(root),
                "treeSize": "1",
                "hashes": [],
                "checkpoint": {"envelope": f"{note}\n— log.invalid {name}\n"},
            },
            "canonicalizedBody": _b64(body),
        }


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: Key, *, hours: float
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=1))
        .not_valid_after(now + datetime.timedelta(hours=hours))
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _canonical(said: Any) -> bytes:
    """RFC 8785, as the logs have it."""
    return rfc8785.dumps(said)


def _der(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.DER)


def _der_length(data: bytes) -> bytes:
    size = len(data)
    return bytes([size]) if size < 128 else b"\x82" + struct.pack("!H", size)


def _spki(key: Key) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _key_id(key: Key) -> bytes:
    return hashlib.sha256(_spki(key)).digest()


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _stamp(moment: datetime.datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
