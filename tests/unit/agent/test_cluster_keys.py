"""Keys that cannot be read yet let nobody in; keys that cannot be read any more go on counting; new ones are found."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from guarded import access_by_file, answer_to, guarded
from issuing import NAMESPACE, OPERATOR, POD_UID, Issuer, Key, KeyFront, key_front
from laterclock import LaterClock
from localcluster.waiting import eventually
from weightrollout.agent import cluster_keys
from weightrollout.agent.caller_flags import CallerAccess
from weightrollout.agent.cluster_keys import ClusterKeys, KeyServer
from weightrollout.agent.reasons import Refused
from weightrollout.api import names
from weightrollout.api.callers import CallerReason

SOON = 20.0
OK = grpc.StatusCode.OK


@dataclass
class Ground:
    issuer: Issuer
    front: KeyFront
    access: CallerAccess
    clock: LaterClock


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    issuer, folder = Issuer(), tmp_path / "cluster"
    async with key_front(issuer, folder) as front:
        access = CallerAccess(NAMESPACE, "chat-0", POD_UID, (OPERATOR,), front.url, cluster=folder)
        yield Ground(issuer, front, access, LaterClock())


async def test_keys_are_read_with_the_token_of_the_pod(ground: Ground) -> None:
    async with guarded(ground.access, clock=ground.clock) as target:
        assert (await answer_to(target, ground.issuer.token()))[0] is OK


async def test_api_server_that_is_away_at_the_start_keeps_everybody_out_until_it_is_back(
    ground: Ground,
) -> None:
    ground.front.up = False
    async with guarded(ground.access, clock=ground.clock) as target:
        code, reason, message = await answer_to(target, ground.issuer.token())
        assert (code, reason) == (
            grpc.StatusCode.UNAVAILABLE,
            CallerReason.KEYS_UNREACHABLE,
        )
        assert ground.front.url in message
        assert "503" in message

        ground.front.up = True

        async def let_in() -> bool:
            return (await answer_to(target, ground.issuer.token()))[0] is OK

        await eventually(let_in, SOON, "the agent reads the keys by itself", every_s=0.1)


async def test_api_server_that_goes_away_later_changes_nothing(ground: Ground) -> None:
    async with guarded(ground.access, clock=ground.clock) as target:
        assert (await answer_to(target, ground.issuer.token()))[0] is OK
        ground.front.up = False
        ground.clock.ahead_s += 2 * cluster_keys.UNKNOWN_S
        other = await answer_to(target, Issuer([Key("unknown")]).token())  # makes it ask again
        assert other[1] == CallerReason.KEY_UNKNOWN
        assert (await answer_to(target, ground.issuer.token()))[0] is OK


async def test_new_key_is_asked_for_when_it_is_first_met(ground: Ground) -> None:
    async with guarded(ground.access, clock=ground.clock) as target:
        assert (await answer_to(target, ground.issuer.token()))[0] is OK
        ground.issuer.keys.insert(0, Key("key-2"))
        ground.clock.ahead_s += 2 * cluster_keys.UNKNOWN_S
        assert (await answer_to(target, ground.issuer.token()))[0] is OK


async def test_withdrawn_key_counts_no_longer_once_the_keys_were_read_again(
    ground: Ground,
) -> None:
    old = ground.issuer.token()
    async with guarded(ground.access, clock=ground.clock) as target:
        assert (await answer_to(target, old))[0] is OK
        ground.issuer.keys[:] = [Key("key-2")]
        ground.clock.ahead_s += 2 * cluster_keys.UNKNOWN_S
        assert (await answer_to(target, ground.issuer.token()))[0] is OK  # reads them again
        assert (await answer_to(target, old))[1] == CallerReason.KEY_UNKNOWN


async def test_flood_of_invented_keys_asks_the_api_server_once(ground: Ground) -> None:
    keys = ClusterKeys(KeyServer(ground.front.url, ground.access.cluster), ground.clock)
    for number in range(50):
        with pytest.raises(Refused, match=CallerReason.KEY_UNKNOWN):
            await keys.key(f"invented-{number}")
    assert ground.front.reads == 1


async def test_many_callers_at_once_ask_once(ground: Ground) -> None:
    keys = ClusterKeys(KeyServer(ground.front.url, ground.access.cluster), ground.clock)
    found = await asyncio.gather(*(keys.key("key-1") for _ in range(20)))
    assert len(found) == 20
    assert ground.front.reads == 1


async def test_issuer_is_the_one_that_the_api_server_names(ground: Ground) -> None:
    async with guarded(ground.access, clock=ground.clock) as target:
        token = ground.issuer.token(iss="https://elsewhere.example")
        assert (await answer_to(target, token))[1] == CallerReason.ISSUER_UNKNOWN


async def test_cluster_that_changes_its_issuer_is_followed_and_the_old_one_counts_on(
    ground: Ground,
) -> None:
    old = ground.issuer.token()
    async with guarded(ground.access, clock=ground.clock) as target:
        assert (await answer_to(target, old))[0] is OK
        ground.issuer.name = "https://new.example"
        ground.clock.ahead_s += 2 * cluster_keys.UNKNOWN_S
        assert (await answer_to(target, ground.issuer.token()))[0] is OK
        assert (await answer_to(target, old))[0] is OK


async def test_api_server_that_the_mounted_authority_does_not_know_is_not_believed(
    ground: Ground, tmp_path: Path
) -> None:
    async with key_front(Issuer([Key("evil")]), tmp_path / "other"):
        foreign = (tmp_path / "other" / names.CLUSTER_CA).read_bytes()
    (ground.access.cluster / names.CLUSTER_CA).write_bytes(foreign)
    keys = ClusterKeys(KeyServer(ground.front.url, ground.access.cluster), ground.clock)
    with pytest.raises(Refused, match=CallerReason.KEYS_UNREACHABLE):
        await keys.key("key-1")
    assert ground.front.reads == 0


@pytest.mark.parametrize("missing", [names.CLUSTER_CA, names.CLUSTER_TOKEN])
async def test_credentials_that_are_not_mounted_are_named(ground: Ground, missing: str) -> None:
    (ground.access.cluster / missing).unlink()
    keys = ClusterKeys(KeyServer(ground.front.url, ground.access.cluster), ground.clock)
    with pytest.raises(Refused, match=f"in {ground.access.cluster}"):
        await keys.key("key-1")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"keys": []}', '{"keys": [{"kty": "oct"}]}'])
async def test_file_without_keys_keeps_everybody_out_and_says_which(
    tmp_path: Path, text: str
) -> None:
    access = access_by_file(Issuer(), tmp_path)
    Path(access.jwks).write_text(text)
    async with guarded(access) as target:
        _, reason, message = await answer_to(target, Issuer().token())
    assert reason == CallerReason.KEYS_UNREACHABLE
    assert access.jwks in message


async def test_file_that_is_replaced_is_read_again_for_a_new_key(tmp_path: Path) -> None:
    issuer, clock = Issuer(), LaterClock()
    access = access_by_file(issuer, tmp_path)
    async with guarded(access, clock=clock) as target:
        assert (await answer_to(target, issuer.token()))[0] is OK
        issuer.keys.insert(0, Key("key-2"))
        Path(access.jwks).write_text(json.dumps(issuer.jwks()))
        clock.ahead_s += 2 * cluster_keys.UNKNOWN_S
        assert (await answer_to(target, issuer.token()))[0] is OK
