"""Every agent is shown a token of its own pod, and no token goes to anybody else."""

import asyncio
from pathlib import Path
from typing import Any, Final

import pytest

from agent_double import AgentDouble, served
from apifront import ApiFront
from guarded import access_by_file, guarded
from issuing import Issuer, Key
from laterclock import LaterClock
from linking import SOON, linked, reached, told
from localcluster.waiting import eventually
from weightrollout.api.callers import Callee
from weightrollout.api.names import OPERATOR_ACCOUNT
from weightrollout.controller.agent_access import AgentAccess
from weightrollout.controller.agent_tokens import IN_FLIGHT, RENEW_S, YOUNG_S, Tokens
from weightrollout.kube.client import Client
from weightrollout.kube.errors import Forbidden, Unavailable
from weightrollout.rollout.fleet import AgentFault

TOKENS: Final = f"/api/v1/namespaces/ns/serviceaccounts/{OPERATOR_ACCOUNT}/token"
ONE: Final = Callee("ns", "u-1")


def requests(front: tuple[ApiFront, Client]) -> int:
    return front[0].requests.count(("POST", TOKENS))


async def test_agent_that_asks_who_calls_is_reached_with_a_token_of_its_own_pod(
    issuer: Issuer, tokens: Tokens, tmp_path: Path
) -> None:
    async with (
        guarded(access_by_file(issuer, tmp_path)) as target,
        linked(target, AgentAccess(tokens)) as link,
    ):
        await reached(link)


async def test_one_token_does_for_many_calls(
    issuer: Issuer, tokens: Tokens, front: tuple[ApiFront, Client]
) -> None:
    found = {await tokens.token(ONE) for _ in range(20)}
    assert len(found) == 1
    assert requests(front) == 1


async def test_token_for_a_pod_elsewhere_is_of_our_own_account_and_names_the_pods_namespace(
    issuer: Issuer, tokens: Tokens, front: tuple[ApiFront, Client]
) -> None:
    """One operator for all namespaces; what is held for one pod is given to no other."""
    asked: list[tuple[str, str]] = []

    def issue(name: str, to: str) -> str:
        asked.append((name, to))
        return issuer.token(to)

    front[0].issue = issue
    for namespace in ("ns", "elsewhere"):
        await tokens.token(Callee(namespace, "u-1"))
    assert requests(front) == 2
    assert asked == [
        (OPERATOR_ACCOUNT, "weightrollout.dev/agent/ns/u-1"),
        (OPERATOR_ACCOUNT, "weightrollout.dev/agent/elsewhere/u-1"),
    ]


async def test_token_is_renewed_beside_the_calls_long_before_its_end(
    tokens: Tokens, clock: LaterClock, front: tuple[ApiFront, Client]
) -> None:
    await tokens.token(ONE)
    clock.ahead_s += RENEW_S + 1
    await tokens.token(ONE)
    await eventually(lambda: requests(front) == 2, SOON, "another one was asked for")
    await eventually(lambda: tokens.age_s(ONE) < 100, SOON, "and is held")


async def test_api_server_that_is_away_lets_a_token_be_used_to_its_end(
    tokens: Tokens, clock: LaterClock, front: tuple[ApiFront, Client]
) -> None:
    first = await tokens.token(ONE)
    front[0].issue = None
    clock.ahead_s += RENEW_S + 1
    assert await tokens.token(ONE) == first
    clock.ahead_s += RENEW_S
    with pytest.raises(Forbidden):
        await tokens.token(ONE)


async def test_large_fleet_asks_for_few_tokens_at_once(
    front: tuple[ApiFront, Client], tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, most = 0, 0
    real = front[1].request

    async def counted(self: Client, verb: str, path: str, **more: Any) -> Any:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        try:
            return await real(verb, path, **more)
        finally:
            busy -= 1

    monkeypatch.setattr(Client, "request", counted)
    await asyncio.gather(*(tokens.token(Callee("ns", f"u-{number}")) for number in range(60)))
    assert 1 < most <= IN_FLIGHT


async def test_refused_token_is_replaced_but_not_in_a_loop(
    tokens: Tokens, clock: LaterClock, front: tuple[ApiFront, Client]
) -> None:
    await tokens.token(ONE)
    for _ in range(5):
        tokens.refused(ONE)
        await tokens.token(ONE)
    assert requests(front) == 1
    clock.ahead_s += YOUNG_S + 1
    tokens.refused(ONE)
    await tokens.token(ONE)
    assert requests(front) == 2


async def test_operator_without_the_right_says_that_it_has_no_token(
    issuer: Issuer, tokens: Tokens, front: tuple[ApiFront, Client], tmp_path: Path
) -> None:
    front[0].issue = None
    async with (
        guarded(access_by_file(issuer, tmp_path)) as target,
        linked(target, AgentAccess(tokens)) as link,
    ):
        await told(link, AgentFault.UNREACHABLE, "NoToken", "serviceaccounts", "403")


async def test_answer_without_a_token_is_no_token(
    tokens: Tokens, front: tuple[ApiFront, Client]
) -> None:
    front[0].issue = lambda name, to: ""
    with pytest.raises(Unavailable, match="has no token"):
        await tokens.token(ONE)


async def test_refusal_of_the_agent_is_told_in_its_words(tokens: Tokens, tmp_path: Path) -> None:
    """It knows the keys of another cluster."""
    async with (
        guarded(access_by_file(Issuer([Key("elsewhere")]), tmp_path)) as target,
        linked(target, AgentAccess(tokens)) as link,
    ):
        await told(link, AgentFault.REFUSED, "TokenKeyUnknown", "another cluster's")


async def test_token_that_expired_as_soon_as_it_was_made_is_called_clock_skew(
    issuer: Issuer, tokens: Tokens, front: tuple[ApiFront, Client], tmp_path: Path
) -> None:
    front[0].issue = lambda name, to: issuer.token(to, iat=1000, nbf=1000, exp=1600)
    async with (
        guarded(access_by_file(issuer, tmp_path)) as target,
        linked(target, AgentAccess(tokens)) as link,
    ):
        await told(link, AgentFault.REFUSED, "ClockSkew", "1970-01-01T00:26:40Z")


async def test_no_token_is_asked_for_an_agent_without_tls(
    tokens: Tokens, front: tuple[ApiFront, Client]
) -> None:
    async with served(AgentDouble()) as target, linked(target, AgentAccess(tokens)) as link:
        await reached(link)
    assert requests(front) == 0
