"""With a node's volume a source is read once for all pods of a node, and nothing in that volume is believed."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import checkpoints
from localcluster.waiting import eventually
from objectstore.files import google
from onepod import one_pod
from sources.nodes import SHAPES, Node
from sources.sharer import PLACES, outcome, stage
from weightrollout.weights import digest, filelock, node_volume
from weightrollout.weights.node_volume import NodeVolume
from weightrollout.wire.agent import agent_pb2 as pb

PODS = 8


def _spoil_by_truncation(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)


def _spoil_by_one_bit(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(-1, os.SEEK_END)
        last = opened.read(1)[0]
        opened.seek(-1, os.SEEK_END)
        opened.write(bytes([last ^ 1]))


def _spoil_by_garbage(file: Path) -> None:
    file.write_bytes(b"\xff" * file.stat().st_size)


def _spoil_by_a_link(file: Path) -> None:
    other = file.with_name("other")
    shutil.move(file, other)
    file.symlink_to(other)


def _spoil_by_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _spoil_by_absence(file: Path) -> None:
    file.unlink()


def test_source_is_read_once_for_eight_pods_and_each_has_the_weights(node: Node) -> None:
    orders = [node.order() for _ in range(PODS)]
    with ThreadPoolExecutor(PODS) as pool:
        found = list(pool.map(stage, orders))
    assert [(each.digest, each.reason, each.notices) for each in found] == [
        (node.digest, "", [])
    ] * PODS
    assert node.read() == node.tensors
    assert all(node.has_the_weights(order) for order in orders)
    assert sum(each.shared for each in found) == PODS * node.tensors
    assert sum(bool(each.notes) for each in found) == PODS - 1  # who waits says so


def test_without_a_volume_every_pod_reads_for_itself(node: Node) -> None:
    for _ in range(2):
        found = stage(node.order(volume=None))
        assert (found.digest, found.notices, found.shared) == (node.digest, [], 0)
    assert node.read() == 2 * node.tensors


def test_what_a_scout_has_read_is_there_for_the_others(node: Node) -> None:
    assert stage(node.order(digest=None)).digest == node.digest
    assert stage(node.order()).digest == node.digest
    assert node.read() == node.tensors


@pytest.mark.parametrize(
    "spoil",
    [
        _spoil_by_truncation,
        _spoil_by_one_bit,
        _spoil_by_garbage,
        _spoil_by_a_link,
        _spoil_by_a_pipe,
        _spoil_by_absence,
    ],
)
def test_file_that_was_spoilt_is_named_and_read_again(
    node: Node, spoil: Callable[[Path], None]
) -> None:
    stage(node.order())
    spoil(node.shard())
    order = node.order()
    found = stage(order)
    assert (found.digest, found.reason) == (node.digest, "")
    (notice,) = found.notices or []
    assert notice.startswith("NodeVolumeSpoilt: ")
    assert node.shard().name in notice
    assert node.has_the_weights(order)
    assert node.read() == 2 * node.tensors
    assert stage(node.order()).notices == []  # what lies there now is whole again
    assert node.read() == 2 * node.tensors


def test_who_spoils_it_all_the_time_costs_reads_and_no_weights(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = NodeVolume.take

    def spoilt(self: NodeVolume, wanted: str) -> node_volume.Entry | None:
        if (entry := taken(self, wanted)) is not None:
            _spoil_by_one_bit(node.shard())
        return entry

    monkeypatch.setattr(NodeVolume, "take", spoilt)
    order = node.order()
    found = stage(order)
    assert (found.digest, len(found.notices or [])) == (node.digest, 2)
    assert node.has_the_weights(order)


def test_digest_that_the_source_does_not_have_is_the_sources_fault_and_is_not_kept(
    node: Node,
) -> None:
    wrong = f"sha256:{'0' * 64}"
    found = stage(node.order(digest=wrong))
    assert found.reason.startswith("DigestMismatch: ")
    assert "gs://" in found.reason
    assert list((node.volume / "entries").iterdir()) == []


@pytest.mark.parametrize("place", PLACES)
def test_pod_that_is_killed_while_it_reads_leaves_the_source_to_the_next(
    node: Node, place: str
) -> None:
    killed = node.start(node.order(strike=place, signal=signal.SIGKILL))
    assert killed.wait(60) == -signal.SIGKILL
    order = node.order()
    found = stage(order)
    assert (found.digest, found.notices) == (node.digest, [])
    assert node.has_the_weights(order)
    NodeVolume(node.volume).collect([])
    assert list((node.volume / "filling").iterdir()) == []


def _is_stopped(process: "subprocess.Popen[str]") -> bool:
    about = Path(f"/proc/{process.pid}/stat").read_text()
    return about.rpartition(")")[2].split()[0] == "T"


async def test_pods_that_wait_for_one_that_is_killed_go_on_by_themselves(node: Node) -> None:
    frozen = node.start(node.order(strike="the first bytes are written", signal=signal.SIGSTOP))
    await eventually(lambda: _is_stopped(frozen), 60, "it reads, and is frozen")
    order = node.order()
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(stage, order)
        frozen.kill()
        found = waits.result(60)
    assert (found.digest, found.notices) == (node.digest, [])
    assert node.has_the_weights(order)


async def test_frozen_reader_is_replaced_by_one_of_those_that_wait(node: Node) -> None:
    frozen = node.start(node.order(strike="the first bytes are written", signal=signal.SIGSTOP))
    await eventually(lambda: _is_stopped(frozen), 60, "it reads, and is frozen")
    before = node.read()
    orders = [node.order(stalled_s=0.5) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(stage, orders))
    assert node.read() - before == node.tensors
    for each, order in zip(found, orders, strict=True):
        assert each.digest == node.digest
        assert [notice.partition(":")[0] for notice in each.notices or []] == ["NodeVolumeStalled"]
        assert node.has_the_weights(order)
    frozen.send_signal(signal.SIGCONT)  # and it ends as if nothing had been
    assert outcome(frozen).digest == node.digest
    assert stage(node.order()).notices == []


async def test_second_frozen_reader_holds_nobody_up_any_more(node: Node) -> None:
    struck: dict[str, object] = {
        "strike": "the first bytes are written",
        "signal": signal.SIGSTOP,
    }
    for _ in range(2):
        frozen = node.start(node.order(stalled_s=0.3, **struck))
        await eventually(partial(_is_stopped, frozen), 60, "it reads, and is frozen")
    order = node.order(stalled_s=0.3)
    found = stage(order)
    assert found.digest == node.digest
    assert [each.partition(":")[0] for each in found.notices or []] == ["NodeVolumeStalled"] * 2
    assert node.has_the_weights(order)


def test_two_digests_are_read_side_by_side(node: Node, tmp_path: Path) -> None:
    other = checkpoints.write_checkpoint(tmp_path / "other", seed=2, tensors=SHAPES, files=2)
    served = google(other, "bucket", "models/other/")
    first = node.served.answerer
    node.served.answerer = lambda request: (
        served(request) if "other" in request.path else first(request)
    )
    holder = NodeVolume(node.volume)
    holder.prepare()
    held = holder.reader(node_volume.key_of(node.digest, ""))  # one of them is under way for ever
    assert held is not None
    found = stage(
        node.order(
            uri="gs://bucket/models/other/",
            digest=(wanted := digest.digest_of(other, threads=1)),
        )
    )
    os.close(held)
    assert (found.digest, found.notices) == (wanted, [])


def test_fleets_with_folders_of_their_own_know_nothing_of_each_other(node: Node) -> None:
    stage(node.order())
    _spoil_by_garbage(node.shard())
    found = stage(node.order(volume=str(node.at / "another-fleet")))
    assert (found.digest, found.notices) == (node.digest, [])


def _entry(volume: NodeVolume, letter: str, *, used_s_ago: float) -> str:
    path = volume.root / "entries" / (letter * 64)
    path.mkdir()
    lease = path / node_volume.LEASE
    lease.touch()
    then = lease.stat().st_mtime - used_s_ago
    os.utime(lease, (then, then))
    return f"sha256:{letter * 64}"


def test_what_nobody_reads_is_collected_and_what_is_read_or_kept_is_not(tmp_path: Path) -> None:
    volume = NodeVolume(tmp_path / "volume")
    volume.prepare()
    ages = {
        letter: _entry(volume, letter, used_s_ago=10.0 * n) for n, letter in enumerate("abcdef")
    }
    old = _entry(volume, "9", used_s_ago=node_volume.UNUSED_S + 1)
    lease = filelock.locked(
        str(volume.root / "entries" / ("f" * 64) / node_volume.LEASE), filelock.SHARED
    )
    assert lease is not None
    assert set(volume.collect([ages["e"]])) == {ages["c"], ages["d"], old}
    os.close(lease)
    assert set(volume.collect([])) == {ages["f"]}


async def test_agents_of_a_node_serve_what_one_of_them_has_read(node: Node, tmp_path: Path) -> None:
    (tmp_path / "pods").mkdir()
    folders = [tmp_path / "pods" / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    flags = (f"--node-volume={node.volume}", "--node-volume-keep-free=0")
    async with (
        one_pod(folders[0], agent_flags=flags) as one,
        one_pod(folders[1], agent_flags=flags) as two,
    ):
        model = one.checkpoints["b"]
        node.served.answerer = google(model, "bucket", "models/chat/")
        wanted = digest.digest_of(model, threads=1)
        files = sum(file.stat().st_size for file in model.glob("*.safetensors"))
        for pod, source, taken in ((one, True, files), (two, False, files)):
            await pod.hello()
            await pod.until(lambda state: state.ready)
            weights = pb.Weights(
                revision="chat-b", version="v-b", uri="gs://bucket/models/chat/", digest=wanted
            )
            request = pb.StageRequest(fence=pod.fence(), weights=weights, keep_last_good=True)
            said = [each async for each in pod.stub.Stage(request, timeout=30)]
            assert (said[-1].digest, said[-1].reason) == (wanted, "")
            counted = await pod.metrics()
            assert f"weightrollout_agent_node_volume_bytes_total {float(taken)}" in counted
            (read,) = re.findall(r"^weightrollout_agent_staged_bytes_total (\S+)", counted, re.M)
            assert (float(read) > files) is source
            pod.digests["b"] = wanted
            await pod.bring("b", "txn-1")
            assert await pod.answers_with("b")
