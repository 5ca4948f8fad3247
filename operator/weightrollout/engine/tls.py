"""TLS of a caller: whom it trusts and who it is, from files that rotate."""

import asyncio
import logging
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc

from weightrollout.engine.errors import EngineUnreachable
from weightrollout.engine.rotation import Rotating

#: Reason of EngineUnreachable where TLS is why: nothing was sent.
REFUSED: Final = "EngineTlsRefused"
NOT_LISTENING: Final = "does not accept connections"
#: For the one handshake that finds out why a connection failed.
DIAGNOSE_S: Final = 1.0

#: How HTTP/2 begins, and as long as the header of a TLS record: enough for a server that wants TLS.
_PREFACE: Final = b"PRI *"
_TLS_ALERT: Final = b"\x15"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files. `certificate` and `key` belong together and are for engines that ask who calls."""

    ca: Path
    certificate: Path | None = None
    key: Path | None = None
    server_name: str = ""  # in the engine's certificate; "": the host that is called


@dataclass(frozen=True, slots=True)
class TlsMaterial:
    """The files as they were at one moment."""

    generation: int  # differs between two readings that differ
    credentials: grpc.ChannelCredentials
    context: ssl.SSLContext


class TlsReader:
    """Reads the files again when they change."""

    def __init__(self, files: TlsFiles, towards: str = "the engine") -> None:
        """`towards`: whom, for people."""
        self.files = files
        self._rotating = Rotating(
            *(files.certificate, files.key, files.ca), self._read, f"TLS towards {towards}"
        )

    def current(self) -> TlsMaterial:
        """Blocks for a few small files. Raises EngineUnreachable where there was never a good reading."""
        self._rotating.refresh()
        if self._rotating.good is None:
            raise EngineUnreachable(REFUSED, self._rotating.why)
        return self._rotating.good

    def _read(self) -> TlsMaterial:
        files, before = self.files, self._rotating.good
        # The context checks what gRPC would take without a word: readable PEM, a key that fits.
        context = ssl.create_default_context(cafile=str(files.ca))
        if files.certificate is not None and files.key is not None:
            context.load_cert_chain(files.certificate, files.key)
        credentials = grpc.ssl_channel_credentials(
            root_certificates=files.ca.read_bytes(),
            private_key=files.key.read_bytes() if files.key else None,
            certificate_chain=files.certificate.read_bytes() if files.certificate else None,
        )
        return TlsMaterial(0 if before is None else before.generation + 1, credentials, context)


async def diagnose(target: str, files: TlsFiles | None, context: ssl.SSLContext | None) -> str:
    """Why a connection to HOST:PORT fails, found out by one more try. Never raises."""
    host, _, port = target.rpartition(":")
    name = (files.server_name if files else "") or host.strip("[]")
    try:
        async with asyncio.timeout(DIAGNOSE_S):
            reader, writer = await asyncio.open_connection(
                host.strip("[]"), int(port), ssl=context, server_hostname=name if context else None
            )
            try:
                if context is None:
                    writer.write(_PREFACE)
                # With TLS 1.3 a server refuses the client's certificate only after the handshake.
                first = await reader.read(1)
            finally:
                writer.close()
    except ssl.SSLError as error:
        return _words(error, files)
    except TimeoutError:
        return "accepts connections, but no gRPC"
    except ConnectionResetError:
        first = b""
    except OSError:
        return NOT_LISTENING
    if context is None and first in (b"", _TLS_ALERT):
        return "closes connections without TLS: if it has TLS, say whom to trust (--engine-ca)"
    return "closes connections" if not first else "failed before, and takes connections now"


def _words(error: ssl.SSLError, files: TlsFiles | None) -> str:
    reason = error.reason or ""
    if isinstance(error, ssl.SSLCertVerificationError):
        trusted = f" by {files.ca}" if files else ""
        return f"its certificate is not accepted{trusted}: {error.verify_message}"
    if "CERTIFICATE_REQUIRED" in reason or "HANDSHAKE_FAILURE" in reason:
        return "it asks for a client certificate (--engine-certificate, --engine-key)"
    if "ALERT" in reason:
        return f"it refuses our client certificate: {reason.lower().replace('_', ' ')}"
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
        return "it does not speak TLS: was vLLM started with --ssl-certfile?"
    return f"TLS failed: {reason or error}"
