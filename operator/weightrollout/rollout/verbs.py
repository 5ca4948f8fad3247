"""Verbs of people: `<verb>:<revision>[:<step|full>]@<nonce>` in one annotation.

    promote:chat-1a2b3c4d5e:1@k3       leaves the step with status.step.index 1
    promote:chat-1a2b3c4d5e:1.9f31@k3  the same, while status.step.hash is 9f31
    promote:chat-1a2b3c4d5e@k3         leaves the step it is at, whichever that is
    promote:chat-1a2b3c4d5e:full@k3    leaves all steps
    abort:chat-1a2b3c4d5e@k3           back to what was verified before it, at any time
    retry:chat-1a2b3c4d5e@k3           a rejected or aborted one again, from its first step

The slot is only read. The last writer wins, and `status.lastAction` answers each text once. A verb
names the state that it was meant for, so that it is Stale and not dangerous anywhere else: after a
newer spec, after other steps, or when the same promote comes twice. What it does is kept where it
outlives the status: abort and retry in the history, promote in status.step; without a status nothing
that is found in the slot is trusted, because it may be a copy, or was answered already.
"""

import hashlib
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from weightrollout.api.status import ActionOutcome, LastAction
from weightrollout.rollout.fleet import Fleet, Verdict
from weightrollout.rollout.position import Position
from weightrollout.rollout.target import Goal

#: A longer text is answered under its hash.
LONGEST_ID: Final = 253
FORM: Final = "<promote|abort|retry>:<revision>[:<step|full>]@<nonce>"
_FORM: Final = re.compile(
    r"(?P<verb>promote|abort|retry):(?P<revision>[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)"
    r"(:(?P<step>full|[0-9]{1,3}(\.(?P<hash>[0-9a-f]{1,64}))?))?@(?P<nonce>[A-Za-z0-9_.-]{1,64})"
)


class VerbName(StrEnum):
    PROMOTE = "promote"
    ABORT = "abort"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Verb:
    id: str
    name: VerbName
    revision: str
    step: int | None = None  # None: the one it is at
    hash: str = ""  # "": whatever the steps are
    full: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """What the slot leads to in this pass."""

    answer: LastAction | None  # new or old; None: nobody ever asked
    position: Position | None  # after a promote
    asks: Verb | None = None  # abort or retry that the history must say first


def action_id(text: str) -> str:
    return (
        text if len(text) <= LONGEST_ID else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    )


def parse(text: str) -> Verb | None:
    """None: nobody can say what it means."""
    found = _FORM.fullmatch(text)
    if found is None or len(text) > LONGEST_ID:
        return None
    verb, step = VerbName(found["verb"]), found["step"]
    if verb is not VerbName.PROMOTE and step is not None:
        return None
    full = step == "full"
    number = None if step is None or full else int(step.partition(".")[0])
    return Verb(text, verb, found["revision"], number, found["hash"] or "", full)


def spell(name: VerbName, revision: str, nonce: str, *, step: str = "", full: bool = False) -> str:
    """The text that `parse` reads. `step`: "<index>.<hash>" of the one to leave; "": any."""
    place = "full" if full else step
    return f"{name}:{revision}{place and f':{place}'}@{nonce}"


def hear(fleet: Fleet, goal: Goal, position: Position | None) -> Heard:
    last = fleet.status.last_action
    if not fleet.action or (last is not None and last.id == action_id(fleet.action)):
        return Heard(last, position)
    verb = parse(fleet.action)
    if verb is None:
        message = f"write {FORM}, or use 'kubectl weightrollout'"
        return Heard(_said(fleet, "", ActionOutcome.INVALID, message), position)
    misplaced = _why_misplaced(verb, goal)
    if misplaced:
        return Heard(_said(fleet, verb.name, ActionOutcome.STALE, misplaced), position)
    if verb.name is VerbName.PROMOTE:
        return _promote(verb, fleet, position)
    done = _done(verb, goal)
    if done:
        return Heard(_said(fleet, verb.name, ActionOutcome.ACCEPTED, done), position)
    pointless = _forgotten(fleet) or _why_pointless(verb, goal)
    if pointless:
        return Heard(_said(fleet, verb.name, ActionOutcome.STALE, pointless), position)
    return Heard(last, position, verb)


def _why_misplaced(verb: Verb, goal: Goal) -> str:
    """ "" when it is about the revision that is worked on."""
    if goal.refusal is not None:
        return f"the spec is refused: {goal.refusal.message}"
    if goal.desired is None:
        return "spec.weights is absent: nothing is desired"
    if verb.revision == goal.desired.ref.revision:
        return ""
    if goal.queued is not None and verb.revision == goal.queued.ref.revision:
        return (
            f"{goal.queued.ref.version} has not begun (strategy.supersede AfterComplete): what runs is"
            f" {goal.desired.ref.version}, revision {goal.desired.ref.revision}"
        )
    return f"revision {goal.desired.ref.revision} is worked on, not {verb.revision}"


def _promote(verb: Verb, fleet: Fleet, position: Position | None) -> Heard:
    why = _forgotten(fleet) or _why_not_promoted(verb, position)
    if why or position is None:
        return Heard(_said(fleet, verb.name, ActionOutcome.STALE, why), position)
    index = position.of if verb.full else position.index + 1
    message = (
        f"step {position.index + 1} of {position.of} is left"
        if not verb.full
        else "all steps are left"
    )
    answer = _said(fleet, verb.name, ActionOutcome.ACCEPTED, message)
    return Heard(answer, replace(position, index=index))


def _why_not_promoted(verb: Verb, position: Position | None) -> str:
    if position is None:
        return "it goes through no steps"
    if not position.known or (verb.hash and verb.hash != position.hash):
        return "the steps are others now: see where it is and promote again"
    if position.over:
        return "all steps are passed"
    if verb.step is not None and verb.step != position.index:
        return f"it is at step {position.index + 1}, and this leaves step {verb.step + 1}"
    return ""


def _done(verb: Verb, goal: Goal) -> str:
    """What became of it; "" where it is still to do."""
    desired = goal.desired
    if desired is None:
        return ""
    if verb.name is VerbName.RETRY:
        again = desired.retry is not None and desired.retry.id == verb.id
        return f"{desired.ref.version} is tried again from the first step" if again else ""
    if desired.verdict is not Verdict.REJECTED or not goal.rolling_back:
        return ""
    return f"{desired.ref.version} is left for {goal.target.ref.version}"


def _why_pointless(verb: Verb, goal: Goal) -> str:
    rejected = goal.desired is not None and goal.desired.verdict is Verdict.REJECTED
    if verb.name is VerbName.RETRY and not rejected:
        return "it was neither rejected nor aborted: there is nothing to try again"
    return ""


def _forgotten(fleet: Fleet) -> str:
    if fleet.status.observed_generation:
        return ""
    return "it was there before this status: look where the fleet is, and give it again"


def _said(fleet: Fleet, verb: str, outcome: ActionOutcome, message: str) -> LastAction:
    return LastAction(
        id=action_id(fleet.action), verb=verb, outcome=outcome, message=message, time=fleet.wall
    )
