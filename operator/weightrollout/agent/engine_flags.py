"""How the agent shows itself to the engine, and whom it takes for the engine: TLS and API key."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weightrollout.engine.tls import TlsFiles


@dataclass(frozen=True, slots=True)
class EngineAccess:
    """All files are read again when they change."""

    ca: Path | None = None  # None: no TLS
    certificate: Path | None = None
    key: Path | None = None
    server_name: str = ""
    api_key: Path | None = None

    @property
    def tls(self) -> TlsFiles | None:
        if self.ca is None:
            return None
        return TlsFiles(self.ca, self.certificate, self.key, self.server_name)


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--engine-ca", type=Path, help="PEM: TLS, and whom to trust as the engine")
    parser.add_argument("--engine-certificate", type=Path, help="PEM: who the agent is")
    parser.add_argument("--engine-key", type=Path, help="PEM: the key of that certificate")
    parser.add_argument(
        "--engine-server-name", default="", help="name in the engine's certificate, if not the host"
    )
    parser.add_argument(
        "--engine-api-key-file", type=Path, help="file with the key of vllm serve --api-key"
    )


def take(arguments: dict[str, Any]) -> EngineAccess:
    """Out of the parsed arguments, which then no longer have them."""
    names = ("ca", "certificate", "key", "server_name", "api_key_file")
    return EngineAccess(*(arguments.pop(f"engine_{name}") for name in names))


def refusal(access: EngineAccess, engine_http: str) -> str | None:
    """What no rotation of files can mend; names the flag."""
    https = engine_http.startswith("https://")
    if (access.certificate is None) is not (access.key is None):
        return "--engine-certificate and --engine-key: give both or none"
    if access.ca is None and (https or access.certificate is not None):
        return "--engine-ca: needed for TLS, to know whom to trust as the engine"
    if access.ca is not None and not https:
        return (
            f"--engine-http {engine_http}: must be https:// with --engine-ca, because vLLM serves"
            " gRPC and HTTP with the same certificate"
        )
    return None
