"""The agent's command line: flags, and what no start can mend about them."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weightrollout import __version__
from weightrollout.agent import caller_flags, engine_flags, exposure_flags, rl_flags
from weightrollout.agent.alone_driver import ALONE_AFTER_S
from weightrollout.agent.caller_flags import CallerAccess
from weightrollout.agent.engine_flags import EngineAccess
from weightrollout.agent.exposure_flags import PodAddress
from weightrollout.agent.rl_flags import RlAccess
from weightrollout.api.addresses import is_loopback, with_brackets
from weightrollout.api.names import DEFAULT_GRPC_PORT, DEFAULT_HTTP_PORT, INSTALL_PLUGIN
from weightrollout.swap.patience import Patience


@dataclass(frozen=True, slots=True)
class Settings:
    engine_grpc: str
    engine_http: str
    engine: EngineAccess
    callers: CallerAccess
    grpc_bind: str
    http_bind: str
    staging: Path
    handover: Path
    stable: Path | None
    control_service: str
    alone_after_seconds: float
    pod: PodAddress = field(default_factory=PodAddress)
    sigstore_trusted_root: Path | None = None
    rl: RlAccess = field(default_factory=RlAccess)
    patience: Patience = field(default_factory=Patience)  # no flag: fits engines of any size


class BadFlag(Exception):
    """The message names the flag and says what to do."""


def parse(argv: Sequence[str] | None = None) -> Settings:
    parser = argparse.ArgumentParser(
        prog="weightrollout-agent",
        description="The sidecar beside one vLLM engine.",
        epilog=f"`weightrollout-agent {INSTALL_PLUGIN} DIR` puts the engine plugin into a folder"
        " for PYTHONPATH instead.",
    )
    parser.add_argument("--engine-grpc", default="127.0.0.1:50051", help="vllm.Control, HOST:PORT")
    parser.add_argument("--engine-http", default="http://127.0.0.1:8000", help="base URL")
    engine_flags.add(parser)
    exposure_flags.add(parser)
    caller_flags.add(parser)
    rl_flags.add(parser)
    parser.add_argument("--grpc-bind", default=f"127.0.0.1:{DEFAULT_GRPC_PORT}", help="HOST:PORT")
    parser.add_argument("--http-bind", default=f"127.0.0.1:{DEFAULT_HTTP_PORT}", help="HOST:PORT")
    parser.add_argument("--staging", type=Path, required=True, help="volume: images, journal")
    parser.add_argument(
        "--handover", type=Path, required=True, help="volume shared with the engine"
    )
    parser.add_argument("--stable", type=Path, help="folder of the fleet's ConfigMap")
    parser.add_argument(
        "--sigstore-trusted-root",
        type=Path,
        metavar="FILE",
        help="Sigstore's trusted_root.json, for weights that are signed without a key; read at each staging",
    )
    parser.add_argument("--control-service", default="vllm.Control", help="gRPC service name")
    parser.add_argument(
        "--alone-after-seconds",
        type=float,
        default=ALONE_AFTER_S,
        help="without an operator for so long, an engine that is not in service is brought to the"
        " stable version (default %(default)g)",
    )
    parser.add_argument("--version", action="version", version=__version__)
    arguments = vars(parser.parse_args(argv))
    for bind in ("grpc_bind", "http_bind"):
        arguments[bind] = with_brackets(arguments[bind])
    return Settings(
        engine=engine_flags.take(arguments),
        pod=exposure_flags.take(arguments),
        callers=caller_flags.take(arguments),
        rl=rl_flags.take(arguments),
        **arguments,
    )


def check(settings: Settings) -> None:
    """Raises BadFlag."""
    for flag, bind in (
        ("--grpc-bind", settings.grpc_bind),
        ("--http-bind", settings.http_bind),
        ("--trainer-bind", settings.rl.bind),
    ):
        host, _ = split(flag, bind)
        if not settings.callers.authenticates and not is_loopback(host):
            raise BadFlag(
                f"{flag} {bind}: without a rule about who may call the agent listens on loopback only"
                f" (127.x, ::1): {caller_flags.HOW}"
            )
    for flag, folder in (("--staging", settings.staging), ("--handover", settings.handover)):
        if not folder.is_dir():
            raise BadFlag(f"{flag} {folder}: no such folder; mount the volume there")
    if why := engine_flags.refusal(settings.engine, settings.engine_http):
        raise BadFlag(why)
    if why := exposure_flags.refusal(settings.pod):
        raise BadFlag(why)
    if why := caller_flags.refusal(settings.callers):
        raise BadFlag(why)
    if why := rl_flags.refusal(settings.rl):
        raise BadFlag(why)
    if not settings.alone_after_seconds > 0:
        raise BadFlag(f"--alone-after-seconds {settings.alone_after_seconds:g}: must be above 0")


def split(flag: str, bind: str) -> tuple[str, int]:
    host, _, port = bind.rpartition(":")
    if not host or not port.isdecimal():
        raise BadFlag(f"{flag} {bind}: must be HOST:PORT")
    return host.strip("[]"), int(port)
