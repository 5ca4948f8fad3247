"""A node's volume that is full, broken, without locks or in other hands: pods read alone, say why, and get the right bytes."""

import errno
import os
import stat
from pathlib import Path

import pytest

from faultydisk import GRANTED, Fault, FaultyDisk, small_volume
from sources.nodes import MIB, Node
from sources.sharer import outcome, stage
from weightrollout.weights.node_notices import Notice
from weightrollout.weights.node_volume import NodeVolume


def test_folder_that_others_may_write_is_not_used(node: Node) -> None:
    node.volume.mkdir(mode=0o700)
    node.volume.chmod(0o777)
    found = stage(node.order())
    assert found.digest == node.digest
    assert (found.notices or [""])[0].startswith("NodeVolumeUnusable: ")
    assert list(node.volume.iterdir()) == []


def test_folders_that_the_kubelet_has_opened_for_the_group_are_shut_and_used(node: Node) -> None:
    """As it does with all that lies in a `local` volume, when a pod with fsGroup mounts it first."""
    stage(node.order())
    folders = [node.volume, *(each for each in node.volume.rglob("*") if each.is_dir())]
    for each in folders:
        each.chmod(0o2770)
    found = stage(node.order())
    assert (found.digest, found.notices) == (node.digest, [])
    assert node.read() == node.tensors
    assert stat.S_IMODE(node.volume.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize("name", ["entries", "filling"])
def test_link_in_place_of_a_folder_is_not_followed(node: Node, name: str) -> None:
    elsewhere = node.at / "elsewhere" / ("e" * 64)
    elsewhere.mkdir(parents=True)
    node.volume.mkdir(mode=0o700)
    (node.volume / name).symlink_to(elsewhere.parent)
    found = stage(node.order())
    assert found.digest == node.digest
    assert (found.notices or [""])[0].startswith("NodeVolumeUnusable: ")
    assert list(elsewhere.parent.iterdir()) == [elsewhere]


def test_folder_of_another_user_is_not_used(node: Node) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to make a folder of another user")
    node.volume.mkdir(mode=0o700)
    os.chown(node.volume, 12345, 12345)
    found = stage(node.order())
    assert (found.digest, len(found.notices or [])) == (node.digest, 1)


def test_full_volume_makes_pods_read_alone_and_says_so(node: Node, tmp_path: Path) -> None:
    with small_volume(tmp_path / "small", "size=4m") as small:
        order = node.order(volume=str(small.path / "chat"), keep_free_percent=15)
        found = stage(order)
        assert found.digest == node.digest
        assert (found.notices or [""])[0].startswith("NodeVolumeFull: ")
        assert node.has_the_weights(order)
        assert list((small.path / "chat" / "entries").iterdir()) == []


@pytest.mark.parametrize(
    ("call", "number", "skip", "reason"),
    [
        ("write", errno.ENOSPC, 3, "NodeVolumeFull"),
        ("write", errno.EIO, 3, "NodeVolumeUnusable"),
        ("create", errno.EDQUOT, 2, "NodeVolumeFull"),
        ("mkdir", errno.EROFS, 0, "NodeVolumeUnusable"),
        ("rename", errno.EIO, 0, "NodeVolumeUnusable"),
        ("flock", errno.ENOLCK, 0, "NodeVolumeUnusable"),
        ("flock", errno.EOPNOTSUPP, 1, "NodeVolumeUnusable"),
    ],
)
def test_volume_that_fails_costs_a_read_and_never_a_staging(
    node: Node, call: str, number: int, skip: int, reason: str
) -> None:
    disk = FaultyDisk(node.at / "disk")
    disk.fail(Fault(call, number, node.volume, skip=skip))
    order = node.order()
    found = outcome(node.start(order, disk.environment))
    assert (found.digest, found.reason) == (node.digest, "")
    (notice,) = found.notices or []
    assert notice.startswith(f"{reason}: ")
    assert node.has_the_weights(order)
    assert stage(node.order()).notices == []  # what it left is in nobody's way


def test_volume_without_locks_is_named(node: Node) -> None:
    disk = FaultyDisk(node.at / "disk")
    disk.fail(Fault("flock", errno.ENOLCK, node.volume))
    (notice,) = outcome(node.start(node.order(), disk.environment)).notices or []
    assert "no lock can be had on this file system (flock: No locks available)" in notice


def test_locks_that_everybody_is_given_cost_reads_and_never_a_wrong_byte(node: Node) -> None:
    """A network file system that is mounted without locks between nodes (NFS: nolock, local_lock)."""
    disk = FaultyDisk(node.at / "disk")
    disk.fail(Fault("flock", GRANTED, node.volume))
    gate = node.at / "gate"
    orders = [node.order(gate=str(gate)) for _ in range(4)]
    pods = [node.start(order, disk.environment) for order in orders]
    gate.touch()
    assert {outcome(pod).digest for pod in pods} == {node.digest}
    assert all(node.has_the_weights(order) for order in orders)


def test_room_is_made_by_what_nobody_reads_and_never_by_what_is_read(
    node: Node, tmp_path: Path
) -> None:
    # A checkpoint has 6 MiB, and 15 % are left free: it holds one.
    with small_volume(tmp_path / "small", "size=10m") as small:
        at = small.path / "chat"
        stage(node.order(volume=str(at)))
        volume = NodeVolume(at)
        entry = volume.take(node.digest)
        assert entry is not None
        with pytest.raises(Notice, match="NodeVolumeFull"), volume.part("x", 4 * MIB):
            pass
        entry.close()
        with volume.part("x", 4 * MIB):
            assert list((at / "entries").iterdir()) == []
