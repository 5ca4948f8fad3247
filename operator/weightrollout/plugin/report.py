"""What this engine says about itself: an EngineReport, from vLLM's own configuration.

What cannot be found out is None: the agent refuses it, it does not guess.
"""

import logging
from pathlib import Path
from typing import Any

import torch

import weightrollout
from weightrollout.handover import memory
from weightrollout.handover.fields import file_fields
from weightrollout.handover.records import (
    DraftReport,
    EngineReport,
    LayerReport,
    LoadPlan,
    TensorFact,
)
from weightrollout.plugin import replicas
from weightrollout.weights import digest

log = logging.getLogger(__name__)


def report_of(
    vllm_config: Any,
    *,
    rank: int,
    world_size: int,
    boot_nonce: str,
    facts: tuple[TensorFact, ...],
    plan: LoadPlan,
    draft: DraftReport | None,
    refusal: tuple[str, str],
    layers: tuple[LayerReport, ...],
) -> EngineReport:
    import vllm

    folder = model_folder(vllm_config.model_config)
    hashes = digest.metadata_hashes(folder) if folder is not None else {}
    if not hashes and not refusal[0]:
        refusal = (
            "ModelFilesUnknown",
            f"nobody can tell with which config and tokenizer {vllm_config.model_config.model} was"
            " started: start the engine with a folder, or with a name whose files vLLM keeps in the"
            " Hugging Face cache",
        )
    return EngineReport(
        rank=rank,
        world_size=world_size,
        instance=vllm_config.instance_id,
        boot_nonce=boot_nonce,
        engine_version=vllm.__version__,
        plugin_version=weightrollout.__version__,
        model=str(vllm_config.model_config.model),
        file_hashes=hashes,
        quantisation=vllm_config.model_config.quantization or "",
        eplb=_flag(vllm_config, "parallel_config", "enable_eplb"),
        kv_connector=_kv_connector(vllm_config),
        speculative=_speculative(vllm_config),
        draft=draft,
        loras=0,  # loaded ones are asked of the engine; at load there is none
        free_bytes=free_bytes(vllm_config),
        tensors=facts,
        plan=plan,
        refusal_reason=refusal[0],
        refusal_message=refusal[1],
        file_fields=file_fields(folder) if folder is not None else {},
        layers=layers,
    )


def draft_of(
    vllm_config: Any,
    facts: tuple[TensorFact, ...],
    plan: LoadPlan,
    layers: tuple[LayerReport, ...],
) -> DraftReport:
    config = vllm_config.speculative_config
    model = str(config.draft_model_config.model)
    return DraftReport(str(config.method), model, facts, plan, layers)


def place(vllm_config: Any) -> tuple[int, int]:
    """(rank, number of ranks), over all data parallel replicas."""
    parallel = vllm_config.parallel_config
    rank = parallel.data_parallel_index * parallel.world_size + parallel.rank
    return rank, replicas.count(parallel) * parallel.world_size


def free_bytes(vllm_config: Any) -> int | None:
    """What the process may still take once the KV cache is there."""
    available = memory.available_bytes()
    if available is None or torch.device(vllm_config.device_config.device).type != "cpu":
        return available
    return max(0, available - (vllm_config.cache_config.kv_cache_memory_bytes or 0))


def model_folder(model_config: Any) -> Path | None:
    """What the engine was started with. A name of the Hugging Face hub is looked up where vLLM has put
    it, without a network; None: it is not there."""
    folder = Path(model_config.model)
    if folder.is_dir():
        return folder
    try:
        from huggingface_hub import snapshot_download  # vLLM's own

        return Path(
            snapshot_download(
                str(model_config.model), revision=model_config.revision, local_files_only=True
            )
        )
    except Exception as error:
        log.warning("weightrollout: %s is not in the cache: %s", model_config.model, error)
        return None


def _speculative(vllm_config: Any) -> str:
    config = vllm_config.speculative_config
    return "" if config is None else str(config.method)


def _flag(config: Any, *names: str) -> bool | None:
    for name in names:
        config = getattr(config, name, None)
    return config if isinstance(config, bool) else None


def _kv_connector(vllm_config: Any) -> str:
    transfer = vllm_config.kv_transfer_config
    return "" if transfer is None else str(transfer.kv_connector or "")
