"""The checkpoints of the demo, written once and kept in build/demo."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import checkpoints
from weightrollout.weights.digest import digest_of


@dataclass(frozen=True)
class Size:
    """How big the demo is."""

    name: str
    pods: int
    large: bool
    bandwidth: str  # what the summary calls the payload


SIZES: Final[Mapping[str, Size]] = {
    "tiny": Size("tiny", 4, False, "a tiny model"),
    "qwen3-0.6b": Size("qwen3-0.6b", 2, True, "311 tensors, 1,503,264,768 bytes"),
}


@dataclass(frozen=True)
class Checkpoint:
    """A folder, its digest, and the fingerprint from which engines compute their answers."""

    version: str
    folder: Path
    digest: str
    fingerprint: int

    @property
    def uri(self) -> str:
        return self.folder.resolve().as_uri() + "/"

    @property
    def weights(self) -> dict[str, str]:
        """`spec.weights`."""
        return {"version": self.version, "uri": self.uri, "digest": self.digest}


def make(folder: Path, size: Size, version: str, *, seed: int, arithmetic: bool) -> Checkpoint:
    """Write the checkpoint, or take the one that an earlier run wrote and finished."""
    target = folder / size.name / version
    done = target.with_suffix(".done")
    if not done.exists():
        shutil.rmtree(target, ignore_errors=True)
        tensors = checkpoints.qwen3_06b_shapes() if size.large else None
        checkpoints.write_checkpoint(target, seed=seed, tensors=tensors, arithmetic=arithmetic)
        done.touch()
    return Checkpoint(
        version, target, digest_of(target, threads=2), checkpoints.fingerprint(target)
    )


def truncated(folder: Path, good: Checkpoint) -> Path:
    """A copy of `good` whose upload was cut: the last file lacks its end."""
    target = folder / "corrupt"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(good.folder, target)
    last = sorted(target.glob("*.safetensors"))[-1]
    with last.open("r+b") as file:
        file.truncate(last.stat().st_size * 2 // 3)
    return target
