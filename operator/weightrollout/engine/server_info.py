"""What vLLM's /server_info (as JSON) says of the engine. Pure."""

from dataclasses import dataclass
from typing import Any

from weightrollout.engine.http_calls import Reply, nonsense
from weightrollout.engine.protocol import Capabilities, EngineInfo


@dataclass(frozen=True, slots=True)
class Facts:
    info: EngineInfo
    model: str  # path or name that the engine was started with
    served_name: str


def facts_of(reply: Reply, engine_version: str) -> Facts:
    """Raises EngineStateUnknown: not of that form. Nothing is guessed: no instance is no engine."""
    try:
        return _facts(reply.json()["vllm_config"], engine_version)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise nonsense(reply.where) from error


def _facts(config: dict[str, Any], engine_version: str) -> Facts:
    model, parallel = config["model_config"], config["parallel_config"]
    transfer = config.get("weight_transfer_config") or {}
    backend = str(transfer.get("backend") or "")
    instance = config["instance_id"]
    if not isinstance(instance, str) or not instance:
        raise ValueError("no instance_id")
    info = EngineInfo(
        instance=instance,
        engine_version=engine_version,
        transfer_backend=backend,
        world_size=_ranks(parallel),
        capabilities=Capabilities(
            rl=True,  # the same switch opens them as this route
            transfer=backend != "",
            sleep=model.get("enable_sleep_mode") is True,
            draft=False,  # only the workers know whether theirs can be updated
            reset_cache=True,
        ),
    )
    return Facts(info, str(model["model"]), _served_name(model))


def _ranks(parallel: dict[str, Any]) -> int:
    """Below this frontend."""
    return max(1, int(parallel["world_size"])) * max(1, int(parallel["data_parallel_size_local"]))


def _served_name(model: dict[str, Any]) -> str:
    """Of several the first is the one that answers carry."""
    name = model.get("served_model_name")
    if isinstance(name, list):
        name = name[0] if name else None
    return str(name or model["model"])
