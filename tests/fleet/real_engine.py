"""Pods with a real vLLM: the container as a platform engineer would write it, without an image."""

from pathlib import Path

from fleet.manifests import ENGINE_GRPC, ENGINE_HTTP, HANDOVER, STAGING, FleetSpec
from realvllm import venv
from realvllm.launch import Launch, Ports, arguments, variables
from realvllm.plugins import OURS, write_folder


def fleet(name: str, model: Path, replicas: int, *, plugins: Path) -> FleetSpec:
    """`plugins`: a folder that gets what an init container would have copied. Builds vLLM where there is none."""
    in_pod = Launch(
        model,
        handover=Path(HANDOVER),
        staging=Path(STAGING),
        environment={"VLLM_SERVER_DEV_MODE": "0"},  # as in production: agents need no dev routes
    )
    folder = write_folder(plugins / "plugins", [OURS])
    return FleetSpec(
        name,
        model,
        replicas,
        gated=True,
        engine_image="vllm",
        engine_command=(str(venv.python()), "-m", "vllm.entrypoints.cli.main"),
        engine_flags=arguments(in_pod, Ports(ENGINE_HTTP, ENGINE_GRPC, "$(POD_IP)")),
        engine_args=(),
        engine_environment=variables(in_pod, folder, venv.cache_folder() / "vllm-cache"),
    )
