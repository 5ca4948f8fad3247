"""From what the engine reported and what is staged: the draft's checkpoint, or that it is left alone."""

from dataclasses import replace
from pathlib import Path

import pytest

import checkpoints
from reports import report_of, with_draft
from weightrollout.agent.drafts import holds, load_of
from weightrollout.agent.engine_watch import EngineSight
from weightrollout.agent.state import Bell, Board
from weightrollout.api.spec import FROM_TARGET, Draft
from weightrollout.handover.records import EngineReport
from weightrollout.swap.records import Content, DraftLoad

TARGET, OWN = "sha256:" + "1" * 64, "sha256:" + "d" * 64
V1 = Content("rev-1", "v1", "file:///v1", TARGET)
NAMED = replace(V1, draft=Draft.model_validate({"uri": "file:///d/", "digest": OWN}))
INSIDE = replace(V1, draft=FROM_TARGET)


def board(*drafts: str) -> Board:
    return Board(Bell(), staged=frozenset({TARGET}), drafts_staged=frozenset(drafts))


@pytest.fixture
def sight(tmp_path: Path) -> EngineSight:
    """Of an engine with an MTP head."""
    folder = checkpoints.write_checkpoint(tmp_path, seed=1)
    report = with_draft(report_of(folder), folder, names=("model.norm.weight",))
    return EngineSight(instance="e-1", reports=(report,), plan_id="p", draft_plan_id="d")


def test_draft_comes_from_where_it_was_found_or_named(sight: EngineSight) -> None:
    assert load_of(board(TARGET), V1, sight) == DraftLoad("mtp", TARGET)
    assert load_of(board(TARGET), INSIDE, sight) == DraftLoad("mtp", TARGET)
    assert load_of(board(TARGET, OWN), NAMED, sight) == DraftLoad("mtp", OWN)


def test_draft_without_an_image_is_left_alone(sight: EngineSight) -> None:
    assert load_of(board(), V1, sight) == DraftLoad("mtp", "")
    assert load_of(board(TARGET), NAMED, sight) == DraftLoad("mtp", "")


def test_nothing_to_load_is_nothing_to_say(sight: EngineSight) -> None:
    assert load_of(board(TARGET), None, sight) is None
    plain = replace(sight, reports=(report_without(sight, ""),), draft_plan_id="")
    assert load_of(board(TARGET), V1, plain) is None
    lookup = replace(sight, reports=(report_without(sight, "ngram"),), draft_plan_id="")
    assert load_of(board(TARGET), V1, lookup) is None


def test_draft_that_the_plugin_cannot_load_is_not_passed_over_in_silence(
    sight: EngineSight,
) -> None:
    blind = replace(sight, reports=(report_without(sight, "medusa"),), draft_plan_id="")
    assert load_of(board(TARGET), V1, blind) == DraftLoad("medusa", "")


def report_without(sight: EngineSight, method: str) -> EngineReport:
    return replace(sight.reports[0], speculative=method, draft=None)


def test_named_draft_must_be_staged_and_one_that_nobody_named_need_not(sight: EngineSight) -> None:
    without = replace(sight, draft_plan_id="")
    assert holds(board(), V1, sight)
    assert not holds(board(), INSIDE, sight)
    assert holds(board(TARGET), INSIDE, sight)
    assert holds(board(), INSIDE, without), "an engine without a draft needs none"
    assert not holds(board(TARGET), NAMED, sight)
    assert not holds(board(), NAMED, without), "staging says NoDraft"
    assert holds(board(OWN), NAMED, sight)
    assert not holds(Board(Bell(), drafts_staged=frozenset({TARGET, OWN})), NAMED, sight)
