"""Ask the operator for promote, abort or retry, and wait for its answer. One slot: the last writer wins."""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Final

import typer
from rich.text import Text

from weightrollout.api.names import ANNOTATION_ACTION
from weightrollout.api.status import (
    ActionOutcome,
    Phase,
)
from weightrollout.cli.access import NotPossible
from weightrollout.cli.exits import Exit
from weightrollout.cli.output import Output, tell
from weightrollout.cli.view import ActionView, View, WeightsName, view_of
from weightrollout.kube.client import Client, Json
from weightrollout.kube.person import change
from weightrollout.kube.reader import follow
from weightrollout.rollout.verbs import VerbName, action_id, spell

TIMEOUT_S: Final = 30.0
NONCE_BYTES: Final = 6
#: In these what runs is not what is desired any more: a verb is about the desired one.
GOING_BACK: Final = (Phase.ROLLING_BACK, Phase.ROLLED_BACK, Phase.FAILED)

TimeoutOption = Annotated[
    float,
    typer.Option("--timeout", min=0, help="Seconds to wait for the answer; 0 does not wait."),
]


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of it. `outcome` "": nobody answered in time, or nobody waited."""

    name: str
    verb: str
    id: str
    outcome: str
    message: str


def worked_on(view: View) -> WeightsName:
    """The revision that promote and abort are about. NotPossible where nobody has looked yet."""
    ref = view.desired if view.phase in GOING_BACK else view.target
    if ref is None:
        raise NotPossible("no status yet, so there is nothing to steer: does an operator run?")
    return ref


def desired(view: View) -> WeightsName:
    if view.desired is None:
        raise NotPossible("nothing is desired: spec.weights is absent, or no operator has seen it")
    return view.desired


def abort_of(view: View, nonce: str) -> str:
    return spell(VerbName.ABORT, worked_on(view).revision, nonce)


def nonce() -> str:
    return secrets.token_hex(NONCE_BYTES)


async def put_verb(client: Client, name: str, spell_for: Callable[[View, str], str]) -> str:
    """Write it into the slot; returns the text. `spell_for(view, nonce)` may raise NotPossible."""
    written = ""
    once = nonce()

    def decide(read: Json) -> Json:
        nonlocal written
        written = spell_for(view_of(read, ()), once)
        return {"metadata": {"annotations": {ANNOTATION_ACTION: written}}}

    await change(client, name, decide)
    return written


async def wait_for(client: Client, name: str, text: str, timeout_s: float) -> ActionView | None:
    """None: no answer in time. Another verb that is written meanwhile takes the slot: none, too."""
    wanted = action_id(text)
    try:
        async with asyncio.timeout(timeout_s), aclosing(follow(client, name)) as sights:
            async for sight in sights:
                last = view_of(sight.rollout, ()).last_action
                if last is not None and last.id == wanted:
                    return last
    except TimeoutError:
        pass
    return None


async def ask_operator(
    client: Client,
    name: str,
    verb: str,
    spell_for: Callable[[View, str], str],
    timeout_s: float,
    output: Output,
) -> Exit:
    text = await put_verb(client, name, spell_for)
    said = await wait_for(client, name, text, timeout_s) if timeout_s else None
    answer = Answer(name, verb, text, said.outcome if said else "", said.message if said else "")
    tell(answer, output, told(answer, timeout_s))
    return exit_of_answer(answer, waited=bool(timeout_s))


def exit_of_answer(answer: Answer, *, waited: bool) -> Exit:
    if answer.outcome:
        return Exit.COMPLETE if answer.outcome == ActionOutcome.ACCEPTED else Exit.STALLED
    return Exit.UNDER_WAY if waited else Exit.COMPLETE


def told(answer: Answer, timeout_s: float) -> Text:
    row = Text.assemble((f"{answer.verb} {answer.name}", "bold"), ": ")
    match answer.outcome:
        case ActionOutcome.ACCEPTED:
            row.append(f"accepted: {answer.message}", "green")
        case "":
            row.append("asked", "yellow")
            waited = f"no answer within {timeout_s:g} s; " if timeout_s else ""
            row.append(
                f"; {waited}the request stays, and an operator that comes will answer it:"
                f" kubectl weightrollout status {answer.name}"
            )
        case outcome:
            row.append(f"not done ({outcome}): {answer.message}", "red")
    return row
