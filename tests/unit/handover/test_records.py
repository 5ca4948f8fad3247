"""What one side writes the other reads back equal, or refuses with the place of the difference."""

import json
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weightrollout.handover import decoding, records
from weightrollout.handover.records import (
    Block,
    EngineReport,
    ExitRequest,
    HandoverError,
    ImageIndex,
    InitInfo,
    LayerReport,
    LoadPlan,
    Piece,
    Prepared,
    Receipt,
    TensorFact,
    UpdateInfo,
)

KINDS: Final = (
    EngineReport,
    LoadPlan,
    InitInfo,
    UpdateInfo,
    Prepared,
    ImageIndex,
    Receipt,
    ExitRequest,
)
PLAN: Final = LoadPlan(0, 4096, (Block("w", 0, 8, "direct", (Piece("w", 0, 0, 8),)),))
REPORT: Final = EngineReport(
    rank=0,
    world_size=1,
    instance="i",
    boot_nonce="n",
    engine_version="0.33.0",
    plugin_version="0.1.0",
    model="/models/a",
    file_hashes={"config.json": "00"},
    quantisation="",
    eplb=False,
    kv_connector="",
    speculative="",
    draft=None,
    loras=0,
    free_bytes=None,
    tensors=(TensorFact("w", "F32", (2,)),),
    plan=PLAN,
    layers=(LayerReport("vllm.a.Linear", ("vllm.a.Method",), "model.up", 28, "packed"),),
)


def _any_of(kind: type[Any]) -> st.SearchStrategy[Any]:
    if kind is Receipt:  # NaN is not equal to itself
        return st.builds(Receipt, millis=st.floats(allow_nan=False, allow_infinity=False))
    return st.builds(kind)


def _clamped(value: Any) -> Any:
    """With whole numbers as a file system knows them; larger ones are refused."""
    if is_dataclass(value) and not isinstance(value, type):
        fixed = {each.name: _clamped(getattr(value, each.name)) for each in fields(value)}
        return replace(value, **fixed)
    if isinstance(value, tuple):
        return tuple(map(_clamped, value))
    return max(-decoding.MAX_INT, min(value, decoding.MAX_INT)) if type(value) is int else value


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_every_record_comes_back_equal(kind: type[Any], data: st.DataObject) -> None:
    record = _clamped(data.draw(_any_of(kind)))
    assert records.loads(kind, records.dumps(record)) == record


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAN, rank=1),
        replace(PLAN, image_bytes=8192),
        replace(PLAN, blocks=()),
        replace(PLAN, blocks=(replace(PLAN.blocks[0], parameter="x"),)),
        replace(PLAN, blocks=(replace(PLAN.blocks[0], pieces=(Piece("w", 8, 0, 8),)),)),
    ],
)
def test_plans_that_differ_anywhere_never_share_an_image(other: LoadPlan) -> None:
    assert other.plan_id() != PLAN.plan_id()


def test_plan_id_is_the_same_in_every_release() -> None:
    """Images staged by an older agent are found by it: a change of form orphans them all."""
    assert PLAN.plan_id() == "1550c92a7933bcdb"


def test_plan_consumes_the_names_of_all_its_pieces() -> None:
    pieces = (Piece("q", 0, 0, 4), Piece("k", 0, 4, 4))
    plan = LoadPlan(0, 8, (Block("qk", 0, 8, "direct", pieces),))
    assert plan.consumed() == {"q", "k"}


def _body(**changes: Any) -> dict[str, Any]:
    return {**json.loads(records.dumps(REPORT)), **changes}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (_body(schema=2), "schema 2 is not 1: agent and plugin must be upgraded together"),
        (_body(schema=None), "schema None"),
        (_body(schema="1"), "schema '1'"),
        (_body(surprise=1), "EngineReport: unknown keys surprise"),
        ({"schema": 1}, "EngineReport: missing keys boot_nonce, draft"),
        (_body(rank="0"), r"EngineReport\.rank: must be int, is str"),
        (_body(rank=True), r"EngineReport\.rank: must be int, is bool"),
        (_body(rank=None), r"EngineReport\.rank: must be int, is NoneType"),
        (_body(rank=0.0), r"EngineReport\.rank: must be int, is float"),
        (_body(eplb=0), r"EngineReport\.eplb: must be bool, is int"),
        (_body(file_hashes={"a": 1}), r"EngineReport\.file_hashes\[a\]: must be str, is int"),
        (_body(file_fields={"a": {"b": 1}}), r"file_fields\[a\]\[b\]: must be str, is int"),
        (_body(file_hashes=[]), r"EngineReport\.file_hashes: must be an object"),
        (_body(tensors={}), r"EngineReport\.tensors: must be a list"),
        (_body(tensors=[1]), r"EngineReport\.tensors\[0\]: must be an object"),
        (
            _body(tensors=[{"name": "w", "dtype": "F32", "shape": [2, "2"]}]),
            r"EngineReport\.tensors\[0\]\.shape\[1\]: must be int, is str",
        ),
        (_body(plan=None), r"EngineReport\.plan: must be an object"),
        ([], "must be an object, is list"),
        (None, "must be an object, is NoneType"),
    ],
)
def test_record_that_is_not_what_it_should_be_is_refused_with_its_place(
    body: Any, message: str
) -> None:
    with pytest.raises(HandoverError, match=message):
        records.loads(EngineReport, json.dumps(body).encode())


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000])
def test_bytes_that_are_no_json_are_refused(data: bytes) -> None:
    with pytest.raises(HandoverError, match="not JSON"):
        records.loads(EngineReport, data)


def test_unknown_facts_stay_unknown() -> None:
    body = _body(quantisation=None, eplb=None, kv_connector=None, speculative=None, loras=None)
    report = records.loads(EngineReport, json.dumps(body).encode())
    assert (report.quantisation, report.eplb, report.loras) == (None, None, None)
    assert report.speculative is None


def test_payloads_without_a_draft_are_of_the_target_alone() -> None:
    init = records.loads(InitInfo, b'{"schema":1,"txn":"t","digest":"d","region":"r"}')
    assert (init.draft_digest, init.draft_region) == ("", "")
    assert records.loads(UpdateInfo, b'{"schema":1,"txn":"t","digest":"d"}').session == "target"


def test_key_with_a_default_may_be_left_out() -> None:
    body = _body(tensors=[{"name": "w", "dtype": "F32", "shape": [2]}])
    report = records.loads(EngineReport, json.dumps(body).encode())
    assert report.tensors[0].aliases == ()


def test_whole_milliseconds_are_read_as_a_number() -> None:
    body = {
        "schema": 1,
        "txn": "t",
        "rank": 0,
        "instance": "i",
        "digest": "d",
        "plan_id": "p",
        "names": [],
        "blocks": [],
        "pointers_ok": True,
        "path": "direct",
        "millis": 3,
    }
    assert records.loads(Receipt, json.dumps(body).encode()).millis == 3.0


def test_absent_file_is_none_and_not_an_error(tmp_path: Path) -> None:
    assert records.read(EngineReport, tmp_path / "report-rank0.json") is None


def test_file_comes_back_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "report-rank0.json"
    records.write(path, REPORT)
    records.write(path, REPORT)
    assert records.read(EngineReport, path) == REPORT
    assert list(tmp_path.iterdir()) == [path]


def test_reader_that_has_the_old_file_open_still_reads_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "exit-request.json"
    records.write(path, ExitRequest("i", "old"))
    with path.open("rb") as reader:
        records.write(path, ExitRequest("i", "new and longer"))
        assert records.loads(ExitRequest, reader.read()).reason == "old"


def test_what_is_written_in_a_pause_does_not_wait_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(handle: int) -> None:
        raise OSError("the disk has other work")

    monkeypatch.setattr("os.fsync", busy)
    path = tmp_path / "report-rank0.json"
    records.write(path, REPORT, sync=False)
    assert records.read(EngineReport, path) == REPORT
    with pytest.raises(OSError, match="other work"):
        records.write(path, REPORT)
