"""A staging that was killed is gone on with: nothing that was kept is read again, and nothing is believed."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import checkpoints
from reports import report_of, sharded_reports
from stagings import stage, visible
from weightrollout.handover import files
from weightrollout.handover.records import EngineReport, ImageIndex
from weightrollout.weights import digest
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.pace import Pace
from weightrollout.weights.staging import StageCount, Store

MIB = 1 << 20
#: Cut within rows by the borders of chunks; 13 of them in three files.
TENSORS = {
    "odd.bytes": ("U8", (3,)),
    "model.embed_tokens.weight": ("BF16", (1500, 1001 * 2)),
    "model.layers.0.mlp.up_proj.weight": ("F32", (1040, 900)),
    "model.layers.0.mlp.down_proj.weight": ("BF16", (1024, 1024)),
    "model.norm.weight": ("F64", (900,)),
}
#: Headers and small files are always read, and the chunk after a mark.
ALWAYS = MIB

#: Stages, and is killed at a chosen write, rename or sync; without a choice it prints how many there are.
CHILD = """
import os, signal, sys
from pathlib import Path
from reports import sharded_reports
from stagings import stage
from weightrollout.weights.staging import Store

folder, root, at = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
count = 0
def counted(real):
    def call(*arguments, **named):
        global count
        count += 1
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    return call
for name in ("pwrite", "write", "rename", "fsync", "posix_fallocate"):
    setattr(os, name, counted(getattr(os, name)))
stage(Store(root, threads=2, step_bytes=1 << 20), folder, sharded_reports(folder))
print(count)
"""


class Counting(Pace):
    """Counts what is read from the source; ends it, when it is told to, as a network would."""

    def __init__(self, at_most: int | None = None) -> None:
        super().__init__()
        self.bytes = 0
        self._at_most = at_most

    def take(self, size: int, go_on: Callable[[], None]) -> None:
        if self._at_most is not None and self.bytes > self._at_most:
            raise WeightsError(Reason.SOURCE_UNREACHABLE, "gone")
        self.bytes += size

    def give_back(self, size: int) -> None:
        self.bytes -= size


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoints.write_checkpoint(
        tmp_path_factory.mktemp("source") / "model", seed=1, tensors=TENSORS, files=3
    )


@pytest.fixture(scope="module")
def proven(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What lies in an image that was staged in one go."""
    store = Store(tmp_path_factory.mktemp("whole"), threads=2)
    return _content(store, stage(store, folder, sharded_reports(folder)))


def _content(store: Store, index: ImageIndex) -> dict[str, bytes]:
    region = store.region(index.digest, index.plan_id)
    return {path.name: path.read_bytes() for path in sorted(region.iterdir())}


def _part(root: Path) -> Path:
    (found,) = (root / files.IMAGES).glob(".part-*")
    return found


def _marked(root: Path) -> int:
    """Bytes of the source that are kept, by the last mark of each file."""
    lines = (_part(root) / "journal").read_text().splitlines()
    return sum({mark["file"]: mark["to"] for mark in map(json.loads, lines)}.values())


def _child(folder: Path, root: Path, at: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), str(root), str(at)],
        env={**os.environ, "PYTHONPATH": "operator:tests"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_staging_that_is_killed_anywhere_is_gone_on_with(
    folder: Path, proven: dict[str, bytes], tmp_path: Path
) -> None:
    whole = _child(folder, tmp_path / "whole", 0)
    assert whole.returncode == 0, whole.stderr
    writes = int(whole.stdout)
    kept = 0
    for at in sorted(random.Random(9).sample(range(1, writes + 1), 6)):
        root = tmp_path / str(at)
        assert _child(folder, root, at).returncode == -9
        left = [each.name for each in (root / files.IMAGES).iterdir()]
        marked = _marked(root) if any(name.startswith(".part-") for name in left) else 0
        kept = max(kept, marked)
        source = Counting()
        store = Store(root, threads=2, pace=source, step_bytes=MIB)
        index = stage(store, folder, sharded_reports(folder))
        assert _content(store, index) == proven
        assert visible(store) == [index.digest.removeprefix("sha256:")]
        total = sum(each.stat().st_size for each in folder.iterdir())
        assert source.bytes <= total - marked + ALWAYS, f"killed at {at} of {writes}"
    assert kept > 4 * MIB, "no kill came late enough to leave something"


@pytest.fixture
def cut(folder: Path, tmp_path: Path) -> Path:
    """The root of a staging whose source went away after most of its bytes."""
    root = tmp_path / "staging"
    store = Store(root, threads=1, pace=Counting(8 * MIB), step_bytes=MIB)
    with pytest.raises(WeightsError) as caught:
        stage(store, folder, sharded_reports(folder))
    assert caught.value.reason is Reason.SOURCE_UNREACHABLE
    assert _marked(root) > 4 * MIB
    return root


def _go_on(root: Path, folder: Path) -> tuple[Store, ImageIndex, int]:
    """And the bytes that were read for it."""
    source = Counting()
    store = Store(root, threads=2, pace=source, step_bytes=MIB)
    return store, stage(store, folder, sharded_reports(folder)), source.bytes


def test_source_that_came_back_is_read_from_where_it_went_away(
    folder: Path, proven: dict[str, bytes], cut: Path
) -> None:
    marked = _marked(cut)
    store, index, read = _go_on(cut, folder)
    assert _content(store, index) == proven
    assert read <= sum(each.stat().st_size for each in folder.iterdir()) - marked + ALWAYS


def test_bytes_that_were_kept_are_progress_and_not_read(folder: Path, cut: Path) -> None:
    marked = _marked(cut)
    counts: list[StageCount] = []
    Store(cut, threads=2, step_bytes=MIB).stage(
        folder.as_uri(),
        digest=None,
        reports=sharded_reports(folder),
        progress=counts.append,
        cancelled=lambda: False,
    )
    assert counts[-1].kept == marked
    assert counts[-1].bytes == counts[-1].total


def _last_line(journal: Path, **changed: object) -> None:
    *lines, last = journal.read_text().splitlines()
    journal.write_text("\n".join([*lines, json.dumps({**json.loads(last), **changed})]) + "\n")


def _each_line(journal: Path, **changed: object) -> None:
    lines = [
        json.dumps({**json.loads(each), **changed}) for each in journal.read_text().splitlines()
    ]
    journal.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "harm",
    [
        lambda journal: journal.unlink(),
        lambda journal: os.truncate(journal, journal.stat().st_size - 20),
        lambda journal: os.truncate(journal, 1),
        lambda journal: journal.write_bytes(os.urandom(1000)),
        lambda journal: journal.write_bytes(b"\0" * 4096 + journal.read_bytes()),
        lambda journal: journal.write_text(journal.read_text() + "[" * 100_000),
        lambda journal: journal.write_text('{"file": "no-such", "to": 9, "sha256": 1}\n'),
        lambda journal: _last_line(journal, sha256="0" * 64),
        lambda journal: _last_line(journal, to=1 << 62),
        lambda journal: _last_line(journal, to=-1),
        lambda journal: _last_line(journal, to=12345),
        lambda journal: _each_line(journal, sha256="0" * 64),
        lambda journal: _each_line(journal, file="../../etc/passwd"),
    ],
)
def test_journal_that_is_torn_or_lies_costs_reading_and_nothing_else(
    folder: Path, proven: dict[str, bytes], cut: Path, harm: Callable[[Path], object]
) -> None:
    harm(_part(cut) / "journal")
    store, index, _ = _go_on(cut, folder)
    assert _content(store, index) == proven


def _flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "harm",
    [
        lambda image: _flip(image, 0),
        lambda image: _flip(image, image.stat().st_size // 2),
        lambda image: image.write_bytes(b"\0" * image.stat().st_size),
        lambda image: os.truncate(image, 4096),
        lambda image: image.unlink(),
    ],
    ids=["first byte", "byte in the middle", "zeros", "short", "gone"],
)
@pytest.mark.parametrize("rank", [0, 1])
def test_bytes_that_are_not_those_that_were_read_are_read_again(
    folder: Path, proven: dict[str, bytes], cut: Path, harm: Callable[[Path], object], rank: int
) -> None:
    harm(files.rank_image(_part(cut) / "0", rank))
    store, index, _ = _go_on(cut, folder)
    assert _content(store, index) == proven


def _written(folder: Path) -> None:
    file = max(folder.glob("*.safetensors"), key=lambda each: each.stat().st_size)
    _flip(file, file.stat().st_size - 1)


def _replaced(folder: Path) -> None:
    file = max(folder.glob("*.safetensors"), key=lambda each: each.stat().st_size)
    stat = file.stat()
    _flip(file, stat.st_size - 1)
    other = file.with_name("other")
    other.write_bytes(file.read_bytes())
    other.rename(file)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.fixture
def own(folder: Path, tmp_path: Path) -> Path:
    """A copy of the folder that may be harmed, and a staging of it that was cut, in `staging`."""
    mine = tmp_path / "mine"
    mine.mkdir()
    for each in folder.iterdir():
        (mine / each.name).write_bytes(each.read_bytes())
    store = Store(tmp_path / "staging", threads=1, pace=Counting(8 * MIB), step_bytes=MIB)
    with pytest.raises(WeightsError):
        stage(store, mine, sharded_reports(mine))
    return mine


@pytest.mark.parametrize(
    "change", [_written, _replaced, lambda folder: (folder / "merges.txt").touch()]
)
def test_source_that_changed_meanwhile_is_read_anew(
    own: Path, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    change(own)
    _, index, read = _go_on(tmp_path / "staging", own)
    assert index.digest == digest.digest_of(own, threads=1)
    assert read >= sum(each.stat().st_size for each in own.glob("*.safetensors"))


def test_weights_are_not_blamed_for_a_change_that_the_source_hides(
    own: Path, tmp_path: Path
) -> None:
    reports, want = sharded_reports(own), digest.digest_of(own, threads=1)
    file = min(own.glob("*.safetensors"), key=lambda each: each.stat().st_size)
    stat = file.stat()
    _flip(file, stat.st_size - 1)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    reasons = []
    for _ in range(2):
        with pytest.raises(WeightsError) as caught:
            stage(Store(tmp_path / "staging", threads=2), own, reports, digest=want)
        reasons.append(caught.value.reason)
    assert reasons == [Reason.SOURCE_CHANGED, Reason.DIGEST_MISMATCH]
    assert visible(Store(tmp_path / "staging")) == []


def test_what_was_kept_makes_room_for_other_weights(
    folder: Path, cut: Path, tmp_path: Path
) -> None:
    other = checkpoints.write_checkpoint(tmp_path / "other", seed=2)
    store = Store(cut, threads=2)
    index = stage(store, other, [report_of(other)])
    assert visible(store) == [index.digest.removeprefix("sha256:")]


def test_images_of_another_engine_are_not_gone_on_with(folder: Path, cut: Path) -> None:
    report: EngineReport = report_of(folder)
    source = Counting()
    store = Store(cut, threads=2, pace=source)
    stage(store, folder, [report])
    assert source.bytes >= sum(each.stat().st_size for each in folder.glob("*.safetensors"))


def test_nan_in_what_was_kept_is_found(tmp_path: Path) -> None:
    name = "model.embed_tokens.weight"
    folder = checkpoints.write_checkpoint(
        tmp_path / "model", seed=1, tensors=TENSORS, files=1, nan_in=name
    )
    reports = [report_of(folder)]
    with pytest.raises(WeightsError):
        stage(
            Store(tmp_path / "s", threads=1, pace=Counting(11 * MIB), step_bytes=MIB),
            folder,
            reports,
        )
    source = Counting()
    with pytest.raises(WeightsError) as caught:
        stage(Store(tmp_path / "s", threads=1, pace=source, step_bytes=MIB), folder, reports)
    assert caught.value.reason is Reason.NOT_FINITE
    assert source.bytes < 8 * MIB
