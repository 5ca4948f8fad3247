"""The messages between vLLM's frontend and its engine cores, as 0.33 sends them. Pure.

msgpack; structures are arrays in the order of their fields, or maps, as each is defined there
(`vllm/v1/engine/__init__.py`). Only the fields that matter here are named.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]  # ships no types

from frontend import tokenizer

#: Long enough for an answer that never ends within a test.
MAX_MODEL_LEN: Final = 1 << 24
PAUSED: Final = {
    "code": "engine_paused",
    "message": "Generation is paused. Please retry after it resumes.",
    "retryable": True,
}


class Kind(Enum):
    """First frame of what the frontend sends."""

    ADD = b"\x00"
    ABORT = b"\x01"
    START_DP_WAVE = b"\x02"
    UTILITY = b"\x03"


class Finish(IntEnum):
    LENGTH = 1
    ABORT = 2
    ERROR = 3


@dataclass(frozen=True, slots=True)
class Completion:
    """A request for tokens."""

    id: str
    prompt: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Call:
    """A utility call; its answer names `client` and `id`."""

    client: int
    id: int
    method: str
    arguments: list[Any]


@dataclass(frozen=True, slots=True)
class Load:
    running: int = 0
    waiting: int = 0


def identity(rank: int) -> bytes:
    """By which the frontend knows an engine."""
    return rank.to_bytes(2, "little")


def greeting(status: str) -> bytes:
    """HELLO asks for the addresses, READY ends the start."""
    return _pack({"status": status, "local": False, "headless": True, "parallel_config_hash": None})


def addresses(reply: bytes) -> tuple[str, str]:
    """Where to connect: (input, output)."""
    told = msgpack.unpackb(reply)["addresses"]
    return told["inputs"][0], told["outputs"][0]


def registration(rank: int, cores: int, facts: Mapping[str, object]) -> bytes:
    """What the frontend caches of this core, and answers GetServerInfo from; `facts` replace."""
    return _pack(
        {
            "max_model_len": MAX_MODEL_LEN,
            "num_gpu_blocks": 10,
            "block_size": 16,
            "dp_stats_address": None,
            "dtype": "bfloat16",
            "data_parallel_size": cores,
            "tensor_parallel_size": 1,
            "pipeline_parallel_size": 1,
            "decode_context_parallel_size": 1,
            "data_parallel_rank": rank,
            "max_num_seqs": 256,
            "max_num_batched_tokens": 8192,
            "supports_lora": False,
            "max_loras": 0,
            "kv_cache_size_tokens": None,
            "kv_cache_max_concurrency": None,
            "kv_events_config": None,
            "effective_attention_block_size": None,
            **facts,
        }
    )


def parse_call(data: bytes) -> Call:
    client, call, method, arguments = msgpack.unpackb(data, strict_map_key=False)
    return Call(client, call, method, arguments)


def parse_completion(data: bytes) -> Completion:
    request, prompt, _, sampling, *_ = msgpack.unpackb(data, strict_map_key=False)
    return Completion(request, tokenizer.decode(prompt), sampling["max_tokens"])


def parse_abort(data: bytes) -> list[str]:
    requests: list[str] = msgpack.unpackb(data)
    return requests


def answered(rank: int, call: Call, result: object) -> bytes:
    return _outputs(rank, utility=[call.id, None, [None, result]])


def failed(rank: int, call: Call, text: str) -> bytes:
    return _outputs(rank, utility=[call.id, f"Call to {call.method} method failed: {text}", None])


def produced(rank: int, request: str, text: str, finish: Finish | None, load: Load) -> bytes:
    return _outputs(rank, [[request, tokenizer.encode(text), *[None] * 3, finish]], load)


def rejected(rank: int, request: str) -> bytes:
    """A request that met a pause which takes none."""
    return _outputs(rank, [[request, [], *[None] * 3, Finish.ERROR, *_UNUSED, PAUSED]])


def loaded(rank: int, load: Load) -> bytes:
    """Scheduler statistics alone."""
    return _outputs(rank, load=load)


#: Fields of an output between its finish reason and its error; the 8th counts NaNs.
_UNUSED: Final = (*[None] * 7, 0, *[None] * 4)
_CACHE_COUNTS: Final = (
    *("requests", "queries", "hits"),
    *("preempted_requests", "preempted_queries", "preempted_hits"),
)
#: What a core says before it ends by itself.
ENGINE_CORE_DEAD: Final = b"ENGINE_CORE_DEAD"


def _outputs(
    rank: int,
    outputs: Sequence[object] = (),
    load: Load | None = None,
    utility: object = None,
) -> bytes:
    statistics = None if load is None else _statistics(load)
    return _pack([rank, list(outputs), statistics, time.monotonic(), utility])


def _statistics(load: Load) -> dict[str, object]:
    return {
        "num_running_reqs": load.running,
        "num_waiting_reqs": load.waiting,
        "num_skipped_waiting_reqs": 0,
        "num_kv_fetch_reqs_by_stage": {},
        "step_counter": 0,
        "current_wave": 0,
        "kv_cache_usage": 0.0,
        "prefix_cache_stats": {
            "reset": False,
            **dict.fromkeys(_CACHE_COUNTS, 0),
            "hits_by_source": {},
        },
        "kv_cache_eviction_events": [],
        "waiting_lora_adapters": {},
        "running_lora_adapters": {},
    }


def _pack(message: object) -> bytes:
    packed: bytes = msgpack.packb(message)
    return packed
