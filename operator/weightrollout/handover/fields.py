"""The fields of config.json and generation_config.json by what they mean to an engine.

Both sides of a comparison are made here: the plugin's, of what its engine was started with, and the
agent's, of what lies beside new weights. Standard library only.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

CONFIG: Final = "config.json"
GENERATION: Final = "generation_config.json"
#: Files that are compared field by field.
BY_FIELD: Final = (CONFIG, GENERATION)
#: A config has some kilobytes, one with a long quantisation section some hundred.
MAX_BYTES: Final = 4 << 20
#: A value up to this length is kept as it is, so that a message can show it.
SHOWN: Final = 64
#: Who wrote a file, and what only training or another library's `generate` reads. No vLLM 0.32 code
#: path takes them from the file; transformers itself writes them anew with each `save_pretrained`.
PROVENANCE: Final = frozenset(
    {
        "_name_or_path",  # where it was loaded from; an engine replaces it by its own path
        "_commit_hash",  # of the hub's repository
        "_from_model_config",  # generation_config.json was derived from config.json
        "_attn_implementation_autoset",  # transformers 4.46 to 4.52: how attention was chosen there
        "transformers_version",
        "use_cache",  # whether transformers' forward returns its cache; off while one trains
    }
)


def file_fields(folder: Path) -> dict[str, dict[str, str]]:
    """`EngineReport.file_fields`: file name -> `fields_of`, of the files that are there and sound."""
    found = {}
    for name in BY_FIELD:
        try:
            with (folder / name).open("rb") as file:
                found[name] = fields_of(file.read(MAX_BYTES + 1))
        except (OSError, ValueError):
            continue  # its hash is reported all the same
    return found


def fields_of(data: bytes) -> dict[str, str]:
    """Top-level field -> canonical JSON of its value, or "sha256:<hex>" of that where it is long.

    Equal means equal to an engine: PROVENANCE is left out at any depth, keys are sorted, `torch_dtype`
    is `dtype` and "torch.float16" is "float16" (transformers before 4.56), 10000.0 is 10000. A field
    that is null is not one that is absent: classes have defaults. Raises ValueError: no JSON object,
    a key twice, no Unicode, longer than MAX_BYTES.
    """
    if len(data) > MAX_BYTES:
        raise ValueError(f"longer than {MAX_BYTES} bytes")
    try:
        said = json.loads(data, object_pairs_hook=_object)
        if not isinstance(said, dict):
            raise ValueError(f"must be an object, is {type(said).__name__}")
        return {key: _shown(_canonical(value)) for key, value in said.items()}
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """As an engine sees it."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        key.encode()  # JSON can spell half a character, which no report can hold
        if key in found:
            raise ValueError(f"has {key[:SHOWN]!r} twice")
        found[key] = value
    if "torch_dtype" in found and "dtype" not in found:
        found["dtype"] = found.pop("torch_dtype")
    if isinstance(dtype := found.get("dtype"), str):
        found["dtype"] = dtype.removeprefix("torch.")
    return {key: value for key, value in found.items() if key not in PROVENANCE}


def _canonical(value: Any) -> str:
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """JSON has one kind of number: 1e4, 10000.0 and 10000 are the same."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _shown(canonical: str) -> str:
    if len(canonical) <= SHOWN:
        return canonical
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"
