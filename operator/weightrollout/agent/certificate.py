"""As what the agent shows itself on wr-grpc: a certificate of its own making, or files that rotate."""

import datetime
import logging
import ssl
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from weightrollout.api.callers import AGENT_TLS_NAME
from weightrollout.engine.tls import file_version

#: It is trusted for being the one that was seen first, for as long as its process lives: no date adds to that, and a node
#: with a wrong clock is reached, too.
ALWAYS: Final = (
    datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC),
    datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC),
)

log = logging.getLogger(__name__)


class FilesUnusable(Exception):
    """The message names the files."""


def own() -> grpc.ServerCredentials:
    """A new key, which no disk ever sees, and a certificate that it signs itself."""
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
    pair = (
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        certificate.public_bytes(serialization.Encoding.PEM),
    )
    return grpc.ssl_server_credentials([pair])


@dataclass(frozen=True, slots=True)
class ServerFiles:
    """PEM files of a server. `client_ca`: callers need a certificate of it; None: they are not asked for one."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(each for each in (self.certificate, self.key, self.client_ca) if each)

    def versions(self) -> tuple[tuple[int, int, int], ...]:
        return tuple(file_version(each) for each in self.paths)


class RotatingFiles:
    """Every handshake is done with the files as they are; those that can't be used leave the last good in force.

    Connections that are open stay as they are: a stream that runs goes on.
    """

    def __init__(self, files: ServerFiles) -> None:
        """Raises FilesUnusable."""
        self._files = files
        self._lock = threading.Lock()  # gRPC asks from threads of its own
        self._why = ""
        try:
            self._seen = files.versions()
            self._first = self._read()
        except OSError as error:
            raise FilesUnusable(self._words(error)) from error

    def credentials(self) -> grpc.ServerCredentials:
        changed: Any = self._changed  # grpc-stubs forget that None means: as before
        ask = self._files.client_ca is not None
        return grpc.dynamic_ssl_server_credentials(self._first, changed, ask)

    def _changed(self) -> grpc.ServerCertificateConfiguration | None:
        """None: nothing new. Called by gRPC for every connection that comes."""
        with self._lock:
            try:
                found = self._files.versions()
                if found == self._seen:
                    return None
                fresh = self._read()
                if found != self._files.versions():
                    return None  # written meanwhile: the next connection reads them
            except OSError as error:
                if (why := self._words(error)) != self._why:
                    self._why = why
                    log.warning("TLS of wr-grpc: %s; the earlier files stay in force", why)
                return None
            self._seen, self._why = found, ""
            log.info("TLS of wr-grpc: read %s", ", ".join(str(each) for each in self._files.paths))
            return fresh

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

    def _words(self, error: OSError) -> str:
        if isinstance(error, ssl.SSLError) and error.reason == "KEY_VALUES_MISMATCH":
            return f"{self._files.certificate} and {self._files.key} do not belong together"
        return f"{', '.join(str(each) for each in self._files.paths)}: {error.strerror or error}"
