"""As what the agent shows itself on wr-grpc: a certificate of its own making, or files that rotate."""

import datetime
import os
import ssl
import threading
from contextlib import ExitStack
from typing import Any, Final

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from weightrollout.api.callers import AGENT_TLS_NAME
from weightrollout.engine.rotation import Rotating
from weightrollout.engine.server_tls import FilesUnusable, ServerFiles

#: It is trusted for being the one that was seen first, for as long as its process lives: no date adds to that, and a node
#: with a wrong clock is reached, too.
ALWAYS: Final = (
    datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC),
    datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC),
)


def own() -> grpc.ServerCredentials:
    """With `own_pair`."""
    return grpc.ssl_server_credentials([own_pair()])


def own_pair() -> tuple[bytes, bytes]:
    """PEM of a new key, which no disk ever sees, and of a certificate that it signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, AGENT_TLS_NAME)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(ALWAYS[0])
        .not_valid_after(ALWAYS[1])
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(AGENT_TLS_NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    return (
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        certificate.public_bytes(serialization.Encoding.PEM),
    )


def own_context() -> ssl.SSLContext:
    """With `own_pair`, for HTTP. The library reads files alone: these are in memory."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with ExitStack() as files:
        paths = []
        for name, pem in zip(("key", "certificate"), own_pair(), strict=True):
            number = os.memfd_create(name)
            files.callback(os.close, number)
            os.write(number, pem)
            paths.append(f"/proc/self/fd/{number}")
        key, certificate = paths
        context.load_cert_chain(certificate, key)
    return context


class RotatingFiles:
    """Every handshake is done with the files as they are.

    Connections that are open stay as they are: a stream that runs goes on.
    """

    def __init__(self, files: ServerFiles) -> None:
        """Raises FilesUnusable."""
        self._files = files
        self._lock = threading.Lock()  # gRPC asks from threads of its own
        self._rotating = Rotating(
            *(files.certificate, files.key, files.client_ca), self._read, "TLS of wr-grpc"
        )
        self._rotating.refresh()
        if self._rotating.good is None:
            raise FilesUnusable(self._rotating.why)
        self._first = self._rotating.good

    def credentials(self) -> grpc.ServerCredentials:
        changed: Any = self._changed  # grpc-stubs forget that None means: as before
        ask = self._files.client_ca is not None
        return grpc.dynamic_ssl_server_credentials(self._first, changed, ask)

    def _changed(self) -> grpc.ServerCertificateConfiguration | None:
        """None: nothing new. Called by gRPC for every connection that comes."""
        with self._lock:
            return self._rotating.good if self._rotating.refresh() else None

    def _read(self) -> grpc.ServerCertificateConfiguration:
        files = self._files
        # The context checks what gRPC would take without a word: readable PEM, a key that fits.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(files.certificate, files.key)
        if files.client_ca is not None:
            context.load_verify_locations(cafile=str(files.client_ca))
        return grpc.ssl_server_certificate_configuration(
            [(files.key.read_bytes(), files.certificate.read_bytes())],
            root_certificates=files.client_ca.read_bytes() if files.client_ca else None,
        )
