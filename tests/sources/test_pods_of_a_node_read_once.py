"""With a node's volume a source is read once for all pods of a node, and nothing in that volume is believed."""

import errno
import json
import os
import re
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import checkpoints
from faultydisk import GRANTED, Fault, FaultyDisk, small_volume
from localcluster.waiting import eventually
from objectstore.files import google
from objectstore.front import Front, front
from onepod import one_pod
from reports import report_of
from sources.sharer import PLACES, Order, outcome, stage, started
from stagings import block_bytes, source_bytes
from weightrollout.weights import digest, filelock, node_volume
from weightrollout.weights.node_notices import Notice
from weightrollout.weights.node_volume import NodeVolume
from weightrollout.weights.staging import Store
from weightrollout.wire.agent import agent_pb2 as pb

MIB = 1 << 20
PODS = 8
SHAPES = {f"layer.{number}.weight": ("BF16", (512, 1024)) for number in range(6)}
Processes = list["subprocess.Popen[str]"]


@dataclass
class Node:
    """Pods that stage one checkpoint out of a bucket, with one volume."""

    model: Path
    served: Front
    at: Path
    digest: str
    pods: int = 0
    processes: Processes = field(default_factory=list)

    @property
    def volume(self) -> Path:
        return self.at / "volume"

    def order(self, **other: object) -> Order:
        self.pods += 1
        order = Order(
            str(self.model),
            "gs://bucket/models/chat/",
            self.digest,
            str(self.at / f"pod-{self.pods}"),
            str(self.volume),
        )
        return replace(order, **other)  # type: ignore[arg-type]

    def start(self, order: Order, environment: Mapping[str, str] = {}) -> "subprocess.Popen[str]":
        self.processes.append(started(order, environment))
        return self.processes[-1]

    def read(self) -> int:
        """Bytes of tensors that the source has given; headers are asked for in smaller ranges."""
        ranges = [each.headers["range"] for each in self.served.asked(".safetensors")]
        sizes = [_size(each) for each in ranges]
        return sum(size for size in sizes if size >= MIB)

    @property
    def tensors(self) -> int:
        return sum(file.stat().st_size for file in self.model.glob("*.safetensors"))

    def entry(self) -> Path:
        return self.volume / "entries" / self.digest.removeprefix("sha256:")

    def shard(self) -> Path:
        return min(self.entry().glob("*.safetensors"))

    def has_the_weights(self, order: Order) -> bool:
        store, report = Store(Path(order.root)), report_of(self.model)
        region = store.region(self.digest, report.plan.plan_id())
        return all(
            block_bytes(region, report, block.parameter)
            == source_bytes(self.model, report, block.parameter)
            for block in report.plan.blocks
        )


def _size(header: str) -> int:
    begin, _, end = header.removeprefix("bytes=").partition("-")
    return int(end) - int(begin) + 1


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    model = checkpoints.write_checkpoint(tmp_path / "model", seed=1, tensors=SHAPES, files=2)
    account = tmp_path / "account.json"
    with front(google(model, "bucket", "models/chat/")) as served:
        said = {"gcs_base_url": served.url, "disable_oauth": True}
        names = ("client_email", "private_key", "private_key_id")
        account.write_text(json.dumps({**said, **dict.fromkeys(names, "")}))
        monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(account))
        monkeypatch.setenv("GOOGLE_ALLOW_HTTP", "true")
        found = Node(model, served, tmp_path, digest.digest_of(model, threads=1))
        yield found
        for process in found.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()


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
        await eventually(lambda frozen=frozen: _is_stopped(frozen), 60, "it reads, and is frozen")
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


def test_fleets_with_folders_of_their_own_know_nothing_of_each_other(node: Node) -> None:
    stage(node.order())
    _spoil_by_garbage(node.shard())
    found = stage(node.order(volume=str(node.at / "another-fleet")))
    assert (found.digest, found.notices) == (node.digest, [])


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
