"""Server-side TLS of a test's own authority."""

import ssl
from collections.abc import Sequence
from pathlib import Path

from localcluster.certificates import Authority


def server_side(
    authority: Authority, folder: Path, hosts: Sequence[str] = ("localhost", "127.0.0.1")
) -> ssl.SSLContext:
    leaf = authority.issue("localhost", hosts=hosts)
    certificate, key = folder / "server.crt", folder / "server.key"
    certificate.write_bytes(leaf.certificate)
    key.write_bytes(leaf.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def trusted(authority: Authority, folder: Path) -> Path:
    """A file for SSL_CERT_FILE."""
    path = folder / "authority.crt"
    path.write_bytes(authority.certificate)
    return path
