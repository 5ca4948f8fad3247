"""Judges of what lies beside the tensors of a checkpoint: whoever trained it has written it."""

import json
import struct
from pathlib import Path
from typing import Final

from reports import report_of
from weightrollout.api.spec import Metadata
from weightrollout.handover.fields import CONFIG
from weightrollout.weights.build import Build
from weightrollout.weights.digest import GOLDEN
from weightrollout.weights.errors import MAX_MESSAGE, WeightsError
from weightrollout.weights.sources.file import Folder

_HEADER: Final = {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
CONFIG_SEED: Final = {
    "architectures": ["Qwen3ForCausalLM"],
    "torch_dtype": "bfloat16",
    "eos_token_id": [256, 257],
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0},
    "layer_types": ["full_attention"] * 12,
    "sliding_window": None,
    "rms_norm_eps": 1e-06,
    "tie_word_embeddings": False,
    "transformers_version": "4.57.1",
}
GOLDEN_SEED: Final = {
    "schema": 1,
    "prompts": [
        {
            "prompt": "The capital of France is",
            "tokenIds": [12095, 13],
            "topLogprobs": [{"12095": -0.31, "264": -2.9}, {"13": -0.8}],
            "tolerance": 0.05,
        },
        {"prompt": "2+2=", "tokenIds": [19]},
    ],
}


def golden(data: bytes, folder: Path) -> str:
    return _staged(folder, GOLDEN, data)


def config(data: bytes, folder: Path) -> str:
    """Against an engine that was started with the seed."""
    return _staged(folder, CONFIG, data)


def _staged(folder: Path, name: str, data: bytes) -> str:
    """All that staging looks at before it reads a tensor."""
    header = json.dumps(_HEADER).encode()
    text = struct.pack("<Q", len(header)) + header + bytes(8)
    (folder / "model.safetensors").write_bytes(text)
    (folder / CONFIG).write_text(json.dumps(CONFIG_SEED))
    report = report_of(folder)
    (folder / name).write_bytes(data)
    try:
        Build.of(Folder(folder), [report], Metadata.REQUIRE)
    except WeightsError as error:
        error.message.encode()
        return error.reason if len(error.message) <= MAX_MESSAGE else "TooManyWords"
    return "Fits"
