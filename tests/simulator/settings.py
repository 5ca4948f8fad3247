"""The command line of one simulated engine."""

import argparse
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from weightrollout.handover import files

#: What each released version is known to change; see facts in `control` and `core`.
RL_CALLS_SINCE: Final = (0, 28)
SHUTDOWN_SINCE: Final = (0, 32)
REJECTS_WHILE_PAUSED_SINCE: Final = (0, 33)


#: vLLM's frontends.
RUST: Final = "rust"
PYTHON: Final = "python"

#: The method whose head lies in the target's checkpoint.
MTP: Final = "mtp"


@dataclass(frozen=True, slots=True)
class Settings:
    """Field names are the flags; units are in the names."""

    model: Path
    http: str = "127.0.0.1:8000"
    grpc: str = "127.0.0.1:50051"
    handover: Path | None = None
    staging: Path | None = None
    vllm: str = "0.33"
    token_seconds: float = 0.02
    load_seconds: float = 0.0
    update_seconds: float = 0.0  # 0: as fast as memory allows
    drain_seconds: float = 0.0  # after SIGTERM; --shutdown-timeout of vLLM
    max_running: int = 256
    ranks: int = 1
    backend: str = "weightrollout"  # "": engine started without --weight-transfer-config
    control_service: str = "vllm.Control"
    frontend: str = "rust"  # or "python", which has no gRPC
    development: bool = False  # RL routes over HTTP
    middleware: tuple[str, ...] = ()  # of the Python frontend
    sidecar: str = ""  # HOST:PORT of Dynamo's in front of it; "" for none
    faults: Path | None = None
    unmanaged: bool = False  # Shutdown refused, as under `vllm serve`
    enable_sleep_mode: bool = False
    speculative: str = ""  # method: "mtp", "eagle3", "draft_model", "ngram"; "" for none
    draft: Path | None = None  # checkpoint of a draft model; an MTP head lies in the target's
    draft_tokens: int = 1  # speculated in each round
    eplb: bool = False
    kv_connector: str = ""
    quantisation: str = ""
    loras: int = 0
    free_bytes: int = 64 << 30
    instance: str = field(default_factory=lambda: str(time.time_ns()))

    @property
    def version(self) -> tuple[int, int]:
        major, minor = self.vllm.split(".")[:2]
        return int(major), int(minor)

    @property
    def engine_version(self) -> str:
        return self.vllm if self.vllm.count(".") > 1 else f"{self.vllm}.0"

    @property
    def has_draft(self) -> bool:
        """Speculates with weights: an n-gram lookup has none."""
        return self.speculative == MTP or self.draft is not None

    @property
    def has_plugin(self) -> bool:
        return self.backend == "weightrollout" and self.handover is not None


def parse(argv: list[str]) -> Settings:
    parser = argparse.ArgumentParser(prog="simulator", description="A simulated vLLM engine.")
    parser.add_argument("--model", type=Path, required=True, help="folder with safetensors files")
    parser.add_argument("--http", metavar="HOST:PORT", default="127.0.0.1:8000")
    parser.add_argument("--grpc", metavar="HOST:PORT", default="127.0.0.1:50051")
    parser.add_argument("--handover", type=Path, help="handover volume; absent: no plugin")
    parser.add_argument("--staging", type=Path, help="staging volume")
    parser.add_argument("--vllm", default="0.33", help="released version to behave like")
    parser.add_argument("--token-seconds", type=float, default=0.02)
    parser.add_argument("--load-seconds", type=float, default=0.0)
    parser.add_argument("--update-seconds", type=float, default=0.0, help="time of one update")
    parser.add_argument("--drain-seconds", type=float, default=0.0, help="after SIGTERM")
    parser.add_argument("--max-running", type=int, default=256)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--backend", default="weightrollout", help='"" for none')
    parser.add_argument("--control-service", default="vllm.Control")
    parser.add_argument(
        "--frontend",
        choices=(RUST, PYTHON),
        help="python: with its RL routes; without this flag as vLLM's environment says",
    )
    parser.add_argument("--sidecar", default="", metavar="HOST:PORT", help="NVIDIA Dynamo's")
    parser.add_argument("--faults", type=Path, help="JSON list, see simulator.faults")
    parser.add_argument("--unmanaged", action="store_true", help="Shutdown is refused")
    parser.add_argument("--enable-sleep-mode", action="store_true")
    parser.add_argument("--speculative", default="", help='method, such as "mtp" or "eagle3"')
    parser.add_argument("--draft", type=Path, help="folder of the draft model; not for mtp")
    parser.add_argument("--draft-tokens", type=int, default=1)
    parser.add_argument("--eplb", action="store_true")
    parser.add_argument("--kv-connector", default="")
    parser.add_argument("--quantisation", default="")
    parser.add_argument("--loras", type=int, default=0)
    parser.add_argument("--free-bytes", type=int, default=64 << 30, help="as the plugin reports")
    _add_vllm_flags(parser)
    arguments = parser.parse_args(argv)
    _take_vllm_flags(arguments)
    if arguments.handover is not None and arguments.staging is None:
        parser.error("--handover needs --staging: the plugin reads its weights from there")
    return Settings(**vars(arguments))


def _add_vllm_flags(parser: argparse.ArgumentParser) -> None:
    """An engine that was prepared as a real one is: flags of `vllm serve`, and the plugin's environment."""
    group = parser.add_argument_group("as vllm serve has them")
    group.add_argument("--host")
    group.add_argument("--port")
    group.add_argument("--grpc-port")
    group.add_argument("--weight-transfer-config", type=json.loads, metavar="JSON")
    group.add_argument("--middleware", action="append", default=[], metavar="PATH.OF.CLASS")
    for name, variable in (
        ("handover", files.HANDOVER_VARIABLE),
        ("staging", files.STAGING_VARIABLE),
    ):
        if folder := os.environ.get(variable):
            parser.set_defaults(**{name: Path(folder)})


def _take_vllm_flags(arguments: argparse.Namespace) -> None:
    """Out of the parsed arguments, which then have the simulator's own."""
    host, port, grpc_port, config = (
        vars(arguments).pop(each)
        for each in ("host", "port", "grpc_port", "weight_transfer_config")
    )
    arguments.middleware = tuple(arguments.middleware)
    arguments.development = arguments.frontend == PYTHON
    if arguments.frontend is None:
        python = os.environ.get("VLLM_USE_RUST_FRONTEND") == "0"
        arguments.frontend = PYTHON if python else RUST
        arguments.development = os.environ.get("VLLM_SERVER_DEV_MODE") == "1"
    if config is not None:
        arguments.backend = config["backend"]
    if port is not None:
        # Without --grpc-port a real engine serves no gRPC; this one does, where nobody looks.
        arguments.http = f"{host or '127.0.0.1'}:{port}"
        arguments.grpc = f"{host or '127.0.0.1'}:{grpc_port or 0}"
