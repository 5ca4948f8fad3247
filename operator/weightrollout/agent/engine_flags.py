"""How the agent reaches the engine, shows itself to it, and whom it takes for the engine: protocol, TLS, token, API key."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weightrollout.api.protocol import EngineProtocol
from weightrollout.engine.tls import TlsFiles


@dataclass(frozen=True, slots=True)
class EngineAccess:
    """All files are read again when they change."""

    ca: Path | None = None  # None: no TLS
    certificate: Path | None = None
    key: Path | None = None
    server_name: str = ""
    api_key: Path | None = None
    token: Path | None = None
    protocol: EngineProtocol = EngineProtocol.GRPC
    sidecar: str = ""  # base URL

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
    parser.add_argument(
        "--engine-token-file", type=Path, help="file with the token of the guard of the RL routes"
    )
    parser.add_argument(
        "--engine-protocol",
        type=EngineProtocol,
        choices=list(EngineProtocol),
        default=EngineProtocol.GRPC,
        help="grpc: vllm.Control at --engine-grpc; http: the RL routes of vLLM's Python frontend at"
        " --engine-http, which its development mode opens; dynamo: the sidecar of NVIDIA Dynamo at"
        " --engine-sidecar, beside vllm.Control (%(default)s)",
    )
    parser.add_argument(
        "--engine-sidecar", default="", help="base URL of Dynamo's system server (DYN_SYSTEM_PORT)"
    )


def take(arguments: dict[str, Any]) -> EngineAccess:
    """Out of the parsed arguments, which then no longer have them."""
    names = (
        "ca",
        "certificate",
        "key",
        "server_name",
        "api_key_file",
        "token_file",
        "protocol",
        "sidecar",
    )
    return EngineAccess(*(arguments.pop(f"engine_{name}") for name in names))


def refusal(access: EngineAccess, engine_http: str) -> str | None:
    """What no rotation of files can mend; names the flag."""
    https = engine_http.startswith("https://")
    if access.token is not None and access.protocol is not EngineProtocol.HTTP:
        return "--engine-token-file: only the guard asks for a token: --engine-protocol=http"
    if (access.protocol is EngineProtocol.DYNAMO) is not access.sidecar.startswith("http://"):
        return (
            "--engine-protocol=dynamo and --engine-sidecar=http://HOST:PORT go together, because Dynamo's"
            " sidecar is called beside vllm.Control"
        )
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
