"""A real staging volume without space or inodes, and an agent with little memory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from checkpoints import qwen3_shapes
from faultydisk import small_volume
from onepod import AgentProcess, OnePod, one_pod
from tiers import unavailable
from weightrollout.weights.image import BUFFERS_BYTES

pytestmark = [pytest.mark.slow, pytest.mark.faults]
#: Room for one image of the tiny checkpoint and not for two.
SIZE = "size=300k"
CGROUPS = (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup"))
MIB = 1 << 20


async def told(pod: OnePod, name: str, reason: str) -> str:
    """Staging beside what is staged fails for it, nothing is left, the engine serves on. Returns the message."""
    failed = await pod.stage(name, keep=tuple(pod.digests.values()))
    assert (failed.reason, failed.failure_class) == (reason, "Environment")
    assert list((pod.staging / "images").glob(".*-*")) == []
    assert await pod.readyz() == (200, "")
    return failed.message


def fill(file: Path) -> None:
    """Until there is no space left."""
    with file.open("wb", buffering=0) as out, suppress(OSError):
        while out.write(bytes(4096)):
            pass


def touch(files: list[Path]) -> None:
    """Until there is no inode left."""
    with suppress(OSError):
        for file in files:
            file.touch()


async def test_full_volume_is_told_and_used_again_when_it_grows(tmp_path: Path) -> None:
    with small_volume(tmp_path / "volume", SIZE) as volume:
        async with one_pod(tmp_path, killable=True, staging=volume.path) as pod:
            await pod.hello()
            await pod.until(lambda state: state.ready)
            assert not (await pod.stage("b")).reason
            fill(volume.path / "filler")

            assert "bytes are free" in await told(pod, "c", "StagingSpaceTooSmall")
            volume.resize("size=4m")
            assert not (await pod.stage("c")).reason


async def test_volume_without_inodes_is_told_as_such(tmp_path: Path) -> None:
    with small_volume(tmp_path / "volume", "size=4m,nr_inodes=24") as volume:
        async with one_pod(tmp_path, killable=True, staging=volume.path) as pod:
            await pod.hello()
            await pod.until(lambda state: state.ready)
            files = [volume.path / f"file-{number}" for number in range(24)]
            touch(files)

            assert "no inode is left" in await told(pod, "b", "StagingSpaceTooSmall")

            for file in files:
                file.unlink(missing_ok=True)
            assert not (await pod.stage("b")).reason


@contextmanager
def memory_limit(pid: int, limit: int) -> Iterator[Path]:
    """A memory cgroup of the test's own with this process in it."""
    found = _cgroup()
    if found is None:
        unavailable("a memory limit needs a memory cgroup that may be written")
    group, file = found
    try:
        (group / file).write_text(str(limit))
        (group / "cgroup.procs").write_text(str(pid))
        yield group
    finally:
        (group.parent / "cgroup.procs").write_text(str(pid))
        group.rmdir()


def _cgroup() -> tuple[Path, str] | None:
    for root, file in zip(CGROUPS, ("memory.limit_in_bytes", "memory.max"), strict=True):
        group = root / f"weightrollout-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        if (group / file).exists():
            return group, file
        group.rmdir()
    return None


def _resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(status.split("VmRSS:")[1].split()[0])


async def test_staging_needs_little_memory_however_large_the_weights_are(tmp_path: Path) -> None:
    shapes = qwen3_shapes(
        hidden=512, layers=8, heads=8, kv_heads=8, head_dim=64, mlp=2048, vocab=8000
    )
    async with one_pod(tmp_path, killable=True, tensors=shapes) as pod:
        await pod.hello()
        await pod.until(lambda state: state.ready)
        assert isinstance(pod.agent, AgentProcess)
        assert pod.agent.process is not None
        pid = pod.agent.process.pid
        weights = sum(each.stat().st_size for each in pod.checkpoints["b"].glob("*.safetensors"))
        spare = 32 * MIB
        assert weights > 2 * spare, "the weights must not fit into what is left"
        with memory_limit(pid, _resident(pid) + spare):
            assert (await pod.bring("b", "txn-b")).outcome == "Committed"
        assert pod.agent.process.returncode is None


async def test_volume_in_memory_is_not_filled_beyond_what_the_agent_may_take(
    tmp_path: Path,
) -> None:
    """The kernel would kill the agent in the middle of a write: the pages are its own."""
    shapes = qwen3_shapes(
        hidden=512, layers=4, heads=8, kv_heads=8, head_dim=64, mlp=2048, vocab=8000
    )
    with small_volume(tmp_path / "volume", "size=1g") as volume:
        async with one_pod(tmp_path, killable=True, tensors=shapes, staging=volume.path) as pod:
            await pod.hello()
            await pod.until(lambda state: state.ready)
            assert isinstance(pod.agent, AgentProcess)
            assert pod.agent.process is not None
            pid = pod.agent.process.pid
            # What it holds already is charged to where it was before: in here it has all of the limit.
            with memory_limit(pid, BUFFERS_BYTES + 32 * MIB):
                assert "raise its memory limit" in await told(pod, "b", "StagingSpaceTooSmall")
            assert pod.agent.process.returncode is None

            assert not (await pod.stage("b")).reason
