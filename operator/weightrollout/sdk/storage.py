"""Tensors become a checkpoint that agents can read: safetensors, manifest, digest. Whole, or not there."""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from weightrollout.sdk.errors import NotPublished
from weightrollout.weights.digest import METADATA, digest_of, matching_files, sha256_of

#: As Hugging Face shards checkpoints.
SHARD_BYTES: Final = 5 * 1000**3
SUMS: Final = "SHA256SUMS"
INDEX: Final = "model.safetensors.index.json"
THREADS: Final = 4


@dataclass(frozen=True, slots=True)
class Stored:
    uri: str
    digest: str  # "sha256:<64 hex>"


class Storage(Protocol):
    """Where tensors go. `tensors`: name -> torch.Tensor or numpy.ndarray, all of one kind, as the checkpoint names them."""

    async def put(self, version: str, tensors: Mapping[str, Any]) -> Stored:
        """Raises NotPublished (VersionReused) where the version is there with other content, NotStored, OSError, and
        ValueError for tensors of neither kind. Safe to repeat, and to be killed in."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A volume that trainer and agents mount. `base`: the checkpoint whose config and tokenizer go with the tensors.

    `uri`: as agents see `path`; "": the same path. Old versions are not removed: the fleet may still go back to one.
    """

    path: Path
    base: Path
    uri: str = ""
    shard_bytes: int = SHARD_BYTES

    async def put(self, version: str, tensors: Mapping[str, Any]) -> Stored:
        """As `Storage` says it."""
        return await asyncio.to_thread(self._put, version, dict(tensors))

    def _put(self, version: str, tensors: dict[str, Any]) -> Stored:
        self.path.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{version}.", dir=self.path))
        try:
            digest = write_checkpoint(made, self.base, tensors, self.shard_bytes)
            goal = self.path / version
            if goal.is_dir():
                self._must_be(goal, version, digest)
            else:
                made.chmod(0o755)  # agents are other users
                made.rename(goal)
                _sync(self.path)
        finally:
            shutil.rmtree(made, ignore_errors=True)
        root = self.uri or self.path.absolute().as_uri()
        return Stored(f"{root.rstrip('/')}/{version}/", digest)

    def _must_be(self, folder: Path, version: str, digest: str) -> None:
        found = digest_of(folder, threads=THREADS)
        if found != digest:
            raise reused(str(folder), version, found, digest)


def write_checkpoint(folder: Path, base: Path, tensors: dict[str, Any], shard_bytes: int) -> str:
    """Into an empty folder, synced; returns the digest."""
    for name in matching_files(base, METADATA):
        shutil.copyfile(base / name, folder / name)
    save = _saver(tensors)
    shards = list(_shards(tensors, shard_bytes))
    where: dict[str, str] = {}
    for number, names in enumerate(shards, 1):
        file = "model.safetensors"
        if len(shards) > 1:
            file = f"model-{number:05}-of-{len(shards):05}.safetensors"
        save({name: tensors[name] for name in names}, folder / file)
        where.update(dict.fromkeys(names, file))
    if len(shards) > 1:
        _write_index(folder / INDEX, where, sum(_size(each) for each in tensors.values()))
    files = matching_files(folder)
    sums = "".join(f"{sha256_of(folder / name)}  {name}\n" for name in files)
    (folder / SUMS).write_text(sums)
    for name in (*files, SUMS):
        _sync(folder / name)
    _sync(folder)
    return digest_of(folder, threads=THREADS)


def reused(where: str, version: str, found: str, digest: str) -> NotPublished:
    return NotPublished(
        "VersionReused",
        f"{where} is there with other content ({found[:15]}.., not {digest[:15]}..): a step is"
        f" written once; publish a newer step, or another run than that of {version}",
    )


def _shards(tensors: dict[str, Any], limit: int) -> Iterator[list[str]]:
    """Names in order, so that the same tensors always give the same files."""
    names: list[str] = []
    held = 0
    for name in sorted(tensors):
        size = _size(tensors[name])
        if names and held + size > limit:
            yield names
            names, held = [], 0
        names.append(name)
        held += size
    yield names


def _size(tensor: Any) -> int:
    size: int = tensor.nbytes
    return size


def _saver(tensors: dict[str, Any]) -> Any:
    """torch is not imported here: who has its tensors has it."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if not tensors:
        raise ValueError("no tensors: give name -> tensor for the whole checkpoint")
    if torch is not None and all(isinstance(each, torch.Tensor) for each in tensors.values()):
        from safetensors.torch import save_file as save_torch

        return lambda part, path: save_torch(
            {name: each.detach().cpu().contiguous() for name, each in part.items()}, path
        )
    if numpy is not None and all(isinstance(each, numpy.ndarray) for each in tensors.values()):
        from safetensors.numpy import save_file as save_numpy

        return lambda part, path: save_numpy(
            {name: numpy.ascontiguousarray(each) for name, each in part.items()}, path
        )
    kinds = sorted({type(each).__name__ for each in tensors.values()})
    raise ValueError(f"tensors must be all torch.Tensor or all numpy.ndarray, not {kinds}")


def _write_index(path: Path, where: dict[str, str], size: int) -> None:
    body = {"metadata": {"total_size": size}, "weight_map": dict(sorted(where.items()))}
    path.write_text(json.dumps(body, indent=2, sort_keys=True) + "\n")


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
