"""How a real engine is started: command line and environment. Pure."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

ADDRESS: Final = "127.0.0.1"
#: Small enough for many engines beside each other; the tiny checkpoints need a fraction of it.
KV_CACHE_BYTES: Final = 256 << 20
MAX_MODEL_TOKENS: Final = 256


class Frontend(StrEnum):
    """What serves HTTP. Only the Rust one serves gRPC."""

    RUST = "rust"
    PYTHON = "python"


@dataclass(frozen=True)
class Launch:
    """One engine. `backend`: of weight transfer; empty: started without it."""

    model: Path
    backend: str = "weightrollout"
    handover: Path | None = None
    staging: Path | None = None
    frontend: Frontend = Frontend.RUST
    flags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    #: LoRA adapters and drafts bring flags of their own; the context is what a family may need to raise.
    max_model_tokens: int = MAX_MODEL_TOKENS


@dataclass(frozen=True)
class Ports:
    """Where it listens. `grpc` is unused by the Python frontend."""

    http: int
    grpc: int
    address: str = ADDRESS


def arguments(launch: Launch, ports: Ports) -> tuple[str, ...]:
    """Of `python -m vllm.entrypoints.cli.main`."""
    parts = ["serve", str(launch.model), "--host", ports.address, "--port", str(ports.http)]
    if launch.frontend is Frontend.RUST:
        parts += ["--grpc-port", str(ports.grpc)]
    parts += ["--dtype", "bfloat16", "--max-model-len", str(launch.max_model_tokens)]
    parts += ["--enforce-eager", "--kv-cache-memory-bytes", str(KV_CACHE_BYTES)]
    if launch.backend:
        parts += ["--weight-transfer-config", json.dumps({"backend": launch.backend})]
    return (*parts, *launch.flags)


def environment(launch: Launch, plugins: Path, cache: Path) -> dict[str, str]:
    """Ours without what would change another Python, and what an engine without a network needs.

    `plugins` goes on PYTHONPATH; `cache` keeps what vLLM learns about model classes between starts.
    """
    foreign = ("PYTHON", "VLLM_", "VIRTUAL_ENV", "WEIGHTROLLOUT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {**kept, **variables(launch, plugins, cache)}


def variables(launch: Launch, plugins: Path, cache: Path) -> dict[str, str]:
    """What of `environment` is the engine's own."""
    ours = {
        "PYTHONPATH": str(plugins),
        "VLLM_CACHE_ROOT": str(cache),
        "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_SERVER_DEV_MODE": "1",  # the HTTP twins of vllm.Control
        "VLLM_USE_RUST_FRONTEND": "1" if launch.frontend is Frontend.RUST else "0",
        "HF_HUB_OFFLINE": "1",
    }
    if launch.handover is not None:
        ours["WEIGHTROLLOUT_HANDOVER"] = str(launch.handover)
    if launch.staging is not None:
        ours["WEIGHTROLLOUT_STAGING"] = str(launch.staging)
    return {**ours, **launch.environment}
