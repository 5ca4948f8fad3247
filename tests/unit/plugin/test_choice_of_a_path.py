"""The fastest path that is right here, or a refusal before anything is staged; never more memory than there is."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="only an engine's environment has torch")

import quirks
from weightrollout.handover import memory
from weightrollout.plugin import paths
from weightrollout.plugin.birth import Birth
from weightrollout.plugin.inplace import InPlace
from weightrollout.plugin.recording import Given, Record
from weightrollout.plugin.subject import Subject, SubjectError

MIB = 1 << 20


@pytest.fixture(scope="module")
def packed() -> Subject:
    """A model that cannot be filled in place."""
    weights = quirks.checkpoint(1)
    model = quirks.Model()
    record = Record(Birth.of(model), "")
    record.given = {name: Given(each.dtype, tuple(each.shape)) for name, each in weights.items()}
    found = Subject.of(model, None, record, whole=True)
    assert found.in_place.why
    return replace(found, bytes=100 * MIB)


def test_plain_model_is_copied_whatever_memory_there_is(packed: Subject) -> None:
    plain = replace(packed, in_place=InPlace((), ""))
    assert plain.path("", 0, by_reference=True) == "direct"
    assert plain.path("", 0, by_reference=False) == "direct"


@pytest.mark.parametrize(
    ("free", "path"), [(125 * MIB, "flip"), (125 * MIB - 1, "repack"), (None, "repack")]
)
def test_packed_model_is_packed_before_the_pause_where_memory_allows(
    packed: Subject, free: int | None, path: str
) -> None:
    assert packed.path("", free, by_reference=True) == path


def test_packed_model_in_an_engine_that_keeps_addresses_is_refused_with_a_way_out(
    packed: Subject,
) -> None:
    with pytest.raises(SubjectError, match="--enforce-eager") as caught:
        packed.path("", 1 << 40, by_reference=False)
    assert caught.value.reason == "LayerNotPlain"


def test_tensor_that_no_checkpoint_fills_is_refused_by_its_name(packed: Subject) -> None:
    with pytest.raises(SubjectError, match="scales of layer 3") as caught:
        replace(packed, unfilled="scales of layer 3").path("", 1 << 40, by_reference=True)
    assert caught.value.reason == "LayerNotFilled"


def test_model_that_nobody_listened_to_is_refused() -> None:
    with pytest.raises(SubjectError) as caught:
        Subject.of(quirks.Model(), None, Record(), whole=True)
    assert caught.value.reason == "ModelNotRecorded"


def test_model_of_another_loader_is_refused() -> None:
    model = quirks.Model()
    with pytest.raises(SubjectError) as caught:
        Subject.of(model, None, Record(Birth.of(model), ""), whole=True)
    assert caught.value.reason == "LoaderUnsupported"


def test_memory_that_went_since_the_start_refuses_the_swap_with_both_numbers(
    packed: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 7 * MIB)
    with pytest.raises(paths.PathError, match=r"125 MiB are needed.*7 MiB are free") as caught:
        paths._check_memory(packed)
    assert caught.value.reason == "MemoryShort"


Ground = Callable[..., None]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """A machine with 1,000 MiB free, and a cgroup of version 2 with what is given."""

    def build(**files: str) -> None:
        (tmp_path / "meminfo").write_text(f"MemTotal: 1\nMemAvailable: {1000 * 1024} kB\n")
        (tmp_path / "cgroup").write_text("0::/pod/engine\n")
        group = tmp_path / "fs" / "pod" / "engine"
        group.mkdir(parents=True)
        for name, text in files.items():
            (group / f"memory.{name}").write_text(text)
        monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
        monkeypatch.setattr(memory, "_MEMBERSHIP", tmp_path / "cgroup")
        monkeypatch.setattr(memory, "_CGROUPS", tmp_path / "fs")

    return build


def test_memory_is_that_of_the_machine_where_no_group_limits_it(machine: Ground) -> None:
    machine(max="max\n", current="5\n", stat="")
    assert memory.available_bytes() == 1000 * MIB


def test_memory_is_what_the_group_leaves_page_cache_included(machine: Ground) -> None:
    machine(max=str(300 * MIB), current=str(200 * MIB), stat=f"anon 1\ninactive_file {50 * MIB}\n")
    assert memory.available_bytes() == 150 * MIB
