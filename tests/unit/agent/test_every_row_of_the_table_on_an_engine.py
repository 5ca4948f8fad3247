"""Each row of the swap table, reached by an engine that really behaves so, and what comes of it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from checkpoints import mtp_shapes
from misbehaving import Misbehaving, fault, misbehaving
from weightrollout.api.swap import SwapPhase
from weightrollout.swap import machine
from weightrollout.swap.records import Answer, Holds, Step
from weightrollout.swap.table import DRAFT_STEPS, ROWS, Case, Row, Sight, row_for
from weightrollout.wire.agent import agent_pb2 as pb

pytestmark = [pytest.mark.slow, pytest.mark.faults]

OLD, GONE, WHOLE = Holds
OK, REFUSED, UNKNOWN, WRONG, BUSY, UNLABELLED = Answer
RUNNING, PAUSED = Sight.RUNNING, Sight.PAUSED
#: The prompt is answered, and not with what is expected.
NO_WORDS: Final = fault("completions", "ok_nothing")


@dataclass(frozen=True)
class Script:
    """Which case the faults lead to, and how the swap then ends."""

    case: Case
    outcome: str
    reason: str
    faults: tuple[dict[str, Any], ...] = ()
    since: SwapPhase | None = None  # the faults come in this phase; None: before the swap
    held: bool = False  # a client's stream runs on, and pauseMode is GiveUp

    def __str__(self) -> str:
        case = self.case
        return f"{case.holds}-{case.step}-{case.answer}-{case.sight}"


SCRIPTS: Final = (
    Script(
        Case(GONE, Step.FINISH, OK, Sight.RESTARTED),
        *("Restarted", "EngineRestarted"),
        (fault("GetServerInfo", "lie_instance"),),
        SwapPhase.TRANSFERRING,
    ),
    Script(
        Case(OLD, Step.INIT, UNKNOWN, RUNNING),
        *("Untouched", "PrepareFailed"),
        (fault("InitWeightTransferEngine", "error"),),
    ),
    Script(Case(OLD, Step.DRAIN, BUSY, RUNNING), "GaveUp", "RequestsRunning", held=True),
    Script(Case(OLD, Step.PAUSE, OK, PAUSED), "Committed", ""),
    Script(
        Case(OLD, Step.PAUSE, UNKNOWN, PAUSED),
        *("Untouched", "PauseFailed"),
        (fault("PauseGeneration", "error_after", at=1),),
    ),
    Script(
        Case(OLD, Step.PAUSE, OK, RUNNING),
        *("Untouched", "PauseNotConfirmed"),
        (fault("PauseGeneration", "ok_nothing"),),
    ),
    Script(
        Case(OLD, Step.START, REFUSED, PAUSED),
        *("Untouched", "TransferFailed"),
        (fault("StartWeightUpdate", "refuse"),),
    ),
    Script(
        Case(OLD, Step.START, REFUSED, RUNNING),
        *("Untouched", "TransferFailed"),
        (fault("StartWeightUpdate", "refuse"), fault("GetWeightVersion", "resumes")),
    ),
    Script(
        Case(OLD, Step.START, UNKNOWN, PAUSED),
        *("Committed", ""),
        (fault("StartWeightUpdate", "error_after", at=1),),
    ),
    Script(
        Case(OLD, Step.RESUME, OK, RUNNING),
        *("Untouched", "TransferFailed"),
        (fault("StartWeightUpdate", "refuse"),),
    ),
    Script(
        Case(OLD, Step.RESUME, OK, PAUSED),
        *("Untouched", "TransferFailed"),
        (
            fault("StartWeightUpdate", "refuse"),
            fault("ResumeGeneration", "ok_nothing", at=1),
        ),
    ),
    Script(Case(GONE, Step.PAUSE, OK, PAUSED), "Undone", "VerifyFailed", (NO_WORDS,)),
    Script(
        Case(GONE, Step.PAUSE, UNKNOWN, PAUSED),
        *("Undone", "VerifyFailed"),
        (NO_WORDS, fault("PauseGeneration", "error_after", at=2)),
    ),
    Script(
        Case(GONE, Step.PAUSE, OK, RUNNING),
        *("Undone", "VerifyFailed"),
        (NO_WORDS, fault("PauseGeneration", "ok_nothing", at=2)),
    ),
    Script(
        Case(GONE, Step.UPDATE, UNKNOWN, PAUSED),
        *("Committed", ""),
        (fault("UpdateWeights", "error", at=1),),
    ),
    Script(
        Case(GONE, Step.FINISH, UNKNOWN, Sight.PAUSED_LABELLED),
        *("Committed", ""),
        (fault("FinishWeightUpdate", "error_after", at=1),),
    ),
    Script(
        Case(GONE, Step.FINISH, OK, Sight.RUNNING_LABELLED),
        *("Committed", ""),
        (fault("FinishWeightUpdate", "resumes", at=1),),
    ),
    Script(
        Case(GONE, Step.FINISH, UNLABELLED, PAUSED),
        *("Committed", ""),
        (fault("FinishWeightUpdate", "label_fails", at=1),),
    ),
    Script(
        Case(GONE, Step.FINISH, UNLABELLED, RUNNING),
        *("Committed", ""),
        (
            fault("UpdateWeights", "resumes", at=1),
            fault("FinishWeightUpdate", "label_fails", at=1),
        ),
    ),
    Script(
        Case(GONE, Step.FINISH, OK, PAUSED),
        *("Committed", ""),
        (fault("FinishWeightUpdate", "ok_nothing", at=1),),
    ),
    Script(
        Case(GONE, Step.LABEL, OK, PAUSED),
        *("Committed", ""),
        (
            fault("FinishWeightUpdate", "label_fails", at=1),
            fault("UpdateWeightVersion", "ok_nothing"),
        ),
    ),
    Script(Case(WHOLE, Step.RESUME, OK, RUNNING), "Committed", ""),
    Script(
        Case(WHOLE, Step.RESUME, OK, PAUSED),
        *("Committed", ""),
        (fault("ResumeGeneration", "ok_nothing", at=1),),
    ),
    Script(
        Case(WHOLE, Step.DRAFT_UPDATE, UNKNOWN, PAUSED),
        *("Committed", ""),
        (fault("UpdateWeights/draft", "error", at=1),),
    ),
    Script(
        Case(WHOLE, Step.DRAFT_CLOSE, OK, PAUSED),
        *("Committed", ""),
        (fault("UpdateWeights/draft", "lie_receipt", at=1),),
    ),
    Script(
        Case(WHOLE, Step.DRAFT_CLOSE, OK, RUNNING),
        *("Committed", ""),
        (
            fault("UpdateWeights/draft", "lie_receipt", at=1),
            fault("FinishWeightUpdate/draft", "resumes", at=1),
        ),
    ),
    Script(Case(WHOLE, Step.PROMPTS, WRONG, RUNNING), "Undone", "VerifyFailed", (NO_WORDS,)),
    Script(
        Case(WHOLE, Step.PROMPTS, UNKNOWN, RUNNING),
        *("Committed", ""),
        (fault("completions", "error", at=1),),
    ),
    Script(
        Case(WHOLE, Step.PROMPTS, REFUSED, PAUSED),
        *("Undone", "VerifyFailed"),
        (fault("GetWeightVersion", "pauses"),),
    ),
)


OF_THE_DRAFT = [script for script in SCRIPTS if script.case.step in DRAFT_STEPS]
OF_THE_TARGET = [script for script in SCRIPTS if script.case.step not in DRAFT_STEPS]


@pytest.fixture(scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Misbehaving]:
    async with misbehaving(tmp_path_factory.mktemp("pod")) as ground:
        yield ground


@pytest.fixture(scope="module")
async def drafting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Misbehaving]:
    """The same with a draft, which every swap then brings."""
    mtp: dict[str, Any] = {"tensors": mtp_shapes(), "speculative": "mtp"}
    async with misbehaving(tmp_path_factory.mktemp("drafting"), **mtp) as ground:
        yield ground


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    """The cases that the machine looked up."""
    seen: list[Case] = []

    def look_up(case: Case) -> Row:
        seen.append(case)
        return row_for(case)

    monkeypatch.setattr(machine, "row_for", look_up)
    return seen


@pytest.mark.parametrize("script", OF_THE_DRAFT, ids=str)
async def test_row_of_the_draft(drafting: Misbehaving, seen: list[Case], script: Script) -> None:
    await row(drafting, seen, script)
    assert (await drafting.pod.state()).degraded_reason == "", "the next draft is loaded again"


@pytest.mark.parametrize("script", OF_THE_TARGET, ids=str)
async def test_row(ground: Misbehaving, seen: list[Case], script: Script) -> None:
    await row(ground, seen, script)


async def row(ground: Misbehaving, seen: list[Case], script: Script) -> None:
    await ground.settle()
    seen.clear()
    if script.held:
        async with ground.stream("once upon a time"):
            end = await ground.swap_under(pause_mode=pb.PAUSE_MODE_GIVE_UP)
    elif script.since is None:
        end = await ground.swap_under(*script.faults)
    else:
        end = await ground.swap_under_from(script.since, *script.faults)
    assert script.case in seen
    assert (end.outcome, end.reason) == (script.outcome, script.reason), end
    await ground.pod.engine.set_faults()
    if script.outcome == "Restarted":  # as it was scripted, it only said so
        assert (await ground.pod.readyz())[0] == 503
    await ground.recovers()


def test_every_row_is_reached() -> None:
    reached = {ROWS.index(row_for(script.case)) for script in SCRIPTS}
    missing = [ROWS[number] for number in range(len(ROWS)) if number not in reached]
    assert missing == []
