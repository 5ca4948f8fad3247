"""TLS of a server of ours over HTTP, from files that rotate."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from weightrollout.engine.rotation import Rotating


class FilesUnusable(Exception):
    """The message names the files."""


@dataclass(frozen=True, slots=True)
class ServerFiles:
    """PEM files of a server. `client_ca`: callers need a certificate of it; None: they are not asked for one."""

    certificate: Path
    key: Path
    client_ca: Path | None = None


class RotatingContext:
    """Every handshake is done with the files as they are; connections that are open stay as they are."""

    def __init__(self, files: ServerFiles, title: str) -> None:
        """`title`: what they are for, for people. Raises FilesUnusable."""
        self._files = files
        self._rotating = Rotating(
            *(files.certificate, files.key, files.client_ca), self._read, title
        )
        self._rotating.refresh()
        if self._rotating.good is None:
            raise FilesUnusable(self._rotating.why)

    def context(self) -> ssl.SSLContext:
        first = self._read()
        first.sni_callback = self._newest
        return first

    def _newest(self, connection: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> None:
        """Called in every handshake."""
        self._rotating.refresh()
        if self._rotating.good is not None:
            connection.context = self._rotating.good

    def _read(self) -> ssl.SSLContext:
        files = self._files
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(files.certificate, files.key)
        if files.client_ca is not None:
            context.load_verify_locations(cafile=str(files.client_ca))
            context.verify_mode = ssl.CERT_REQUIRED
        return context
