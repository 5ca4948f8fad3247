"""What an engine is said to hold, and what it should hold: never guessed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from weightrollout.agent import stable
from weightrollout.agent.engine_watch import EngineSight, incompatible
from weightrollout.agent.stable import ABSENT, Stable
from weightrollout.agent.state import is_baseline, loaded, wanted
from weightrollout.api.spec import Metadata, PauseMode, TakeOut
from weightrollout.engine.protocol import EngineInfo
from weightrollout.swap.book import Book, Running, Serving
from weightrollout.swap.machine import begin
from weightrollout.swap.records import BASELINE, Content, Holds, Step, SwapRequest

V1 = Content("rev-1", "v1", "file:///v1", "sha256:" + "1" * 64)
V2 = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64)
FRESH = EngineSight(answered_at=0.0, instance="e-1", weight_version="default")
SERVES = Book(told=V1, serving=Serving(V1, "e-1"), touched="e-1")
SWAP = begin(SwapRequest("txn", 1, V2, V1, PauseMode.KEEP, True, 1, 9, ()), "e-1")

WHOLE = {
    "schema": 1,
    "owner": "cr",
    "epoch": 2,
    "revision": "rev-2",
    "version": "v2",
    "uri": "file:///v2",
    "digest": V2.digest,
}


def swapping(step: Step) -> Book:
    return replace(SERVES, running=Running(replace(SWAP, step=step), TakeOut.ENDPOINT))


def test_untouched_engine_holds_what_it_started_with() -> None:
    assert loaded(Book(), FRESH) == BASELINE


def test_nothing_is_known_before_the_version_was_read_back() -> None:
    assert loaded(Book(), replace(FRESH, weight_version="")) is None
    assert loaded(Book(), EngineSight()) is None


def test_proof_holds_for_one_engine_process_only() -> None:
    sight = replace(FRESH, weight_version="v1")
    assert loaded(SERVES, sight) == V1
    assert loaded(SERVES, replace(FRESH, instance="e-2")) == BASELINE


def test_label_that_someone_else_changed_ends_the_proof() -> None:
    assert loaded(SERVES, replace(FRESH, weight_version="v9")) is None


def test_engine_with_a_foreign_label_is_not_the_baseline() -> None:
    assert loaded(Book(), replace(FRESH, weight_version="v9")) is None


def test_nothing_is_proven_from_a_possible_start_to_the_end() -> None:
    sight = replace(FRESH, weight_version="")
    assert loaded(swapping(Step.PAUSE), sight) == V1
    assert loaded(swapping(Step.START), sight) is None
    whole = replace(SWAP, step=Step.PROMPTS, holds=Holds.WHOLE)
    verifying = replace(SERVES, running=Running(whole, TakeOut.NONE))
    assert loaded(verifying, sight) is None, "the new weights answer, the old ones are gone"


def test_engine_that_verifies_its_first_weights_is_no_baseline() -> None:
    whole = replace(SWAP, step=Step.RESUME, holds=Holds.WHOLE)
    assert not is_baseline(Book(running=Running(whole, TakeOut.NONE)), FRESH)


def test_touched_engine_is_no_baseline_whatever_its_label_says() -> None:
    assert not is_baseline(Book(touched="e-1"), FRESH)


def test_poisoned_engine_holds_nothing_one_can_name_until_it_restarts() -> None:
    poisoned = Book(poisoned="e-1", touched="e-1")
    assert loaded(poisoned, FRESH) is None
    assert loaded(poisoned, replace(FRESH, instance="e-2")) == BASELINE


def test_lost_journal_makes_an_engine_unknown_if_its_plugin_took_part_in_a_swap() -> None:
    assert loaded(Book(lost=True), FRESH) == BASELINE
    assert loaded(Book(lost=True), replace(FRESH, visited=True)) is None
    assert loaded(Book(), replace(FRESH, visited=True)) == BASELINE


def test_order_of_who_says_what_to_serve() -> None:
    fleet = Stable(V2)
    assert wanted(Book(told=BASELINE, serving=Serving(V1, "e-1")), fleet) == BASELINE
    assert wanted(Book(serving=Serving(V1, "e-0")), fleet) == V1
    assert wanted(Book(), fleet) == V2
    assert wanted(Book(), ABSENT) == BASELINE
    assert wanted(Book(), Stable(None)) is None


def test_stable_version_is_read_as_the_operator_writes_it(tmp_path: Path) -> None:
    assert stable.read(None) == stable.read(tmp_path) == ABSENT
    (tmp_path / "stable.json").write_text(json.dumps(WHOLE))
    assert stable.read(tmp_path) == Stable(V2, "cr", 2)


@pytest.mark.parametrize(
    ("said", "policy"),
    [("Ignore", Metadata.IGNORE), ("Require", Metadata.REQUIRE), ("ignore", Metadata.REQUIRE)],
)
def test_pod_that_comes_alone_ignores_metadata_only_where_that_was_published(
    tmp_path: Path, said: str, policy: Metadata
) -> None:
    (tmp_path / "stable.json").write_text(json.dumps({**WHOLE, "metadata": said}))
    found = stable.read(tmp_path).content
    assert found == replace(V2, metadata=policy)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[]",
        "{}",
        '{"schema": 2}',
        '{"schema": 1, "revision": "r", "version": 7}',
        *(json.dumps({**WHOLE, field: None}) for field in WHOLE),
        *(json.dumps({**WHOLE, field: ""}) for field in ("version", "uri", "digest")),
        json.dumps({**WHOLE, "epoch": True}),
        json.dumps({**WHOLE, "version": "default"}),
    ],
)
def test_stable_version_that_cannot_be_read_is_unknown_and_not_the_baseline(
    tmp_path: Path, said: str
) -> None:
    (tmp_path / "stable.json").write_text(said)
    assert stable.read(tmp_path) == Stable(None)


@pytest.mark.parametrize(
    ("version", "backend", "reason"),
    [
        ("0.27.1", "weightrollout", "EngineTooOld"),
        ("", "weightrollout", "EngineTooOld"),
        ("unknown", "weightrollout", "EngineTooOld"),
        ("0.28.0", "", "NoTransferBackend"),
        ("0.33.0+cpu", "nccl", "NoTransferBackend"),
        ("v1.0.0rc1", "weightrollout", "NoEngineReport"),
    ],
)
def test_engine_is_refused_by_name(version: str, backend: str, reason: str) -> None:
    refusal = incompatible(EngineInfo("e-1", version, backend, 1), ())
    assert refusal is not None
    assert refusal.reason == reason
