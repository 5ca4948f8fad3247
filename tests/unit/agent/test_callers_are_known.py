"""Whoever calls an agent is asked who it is: by real tokens, real keys and real TLS."""

import hashlib
import hmac
import json
import logging
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from guarded import HELLO, access_by_file, answer_to, bearer, called, guarded, refusal_of
from issuing import ISSUER, NAMESPACE, Issuer, Key, said, unsigned
from weightrollout.api.callers import CallerReason, account, audience
from weightrollout.clock import SystemClock
from weightrollout.wire.agent import agent_pb2 as pb

UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED
DENIED = grpc.StatusCode.PERMISSION_DENIED


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
async def target(issuer: Issuer, tmp_path: Path) -> AsyncIterator[str]:
    async with guarded(access_by_file(issuer, tmp_path, issuers=(ISSUER,))) as found:
        yield found


async def refused(target: str, token: str | None, reason: CallerReason) -> str:
    """The message; the reason and the status that goes with it were right."""
    code, why, message = await answer_to(target, token)
    denied = {CallerReason.OTHER_AUDIENCE, CallerReason.OTHER_ACCOUNT}
    assert (code, why) == (DENIED if reason in denied else UNAUTHENTICATED, reason), message
    return message


async def test_the_operator_with_a_token_for_this_pod_is_let_in(
    target: str, issuer: Issuer
) -> None:
    assert await answer_to(target, issuer.token()) == (grpc.StatusCode.OK, "", "")


async def test_every_call_of_the_service_is_refused_without_a_token(target: str) -> None:
    service = pb.DESCRIPTOR.services_by_name["Agent"]
    assert service.methods
    async with called(target) as stub:
        for method in service.methods:
            request = getattr(pb, method.input_type.name)()
            call = getattr(stub, method.name)(request, timeout=10)
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await (call.read() if method.server_streaming else call)
            assert error.value.code() is UNAUTHENTICATED, method.name
            assert refusal_of(error.value)[0] == CallerReason.TOKEN_MISSING, method.name


async def test_without_tls_nobody_gets_as_far_as_a_token(target: str, issuer: Issuer) -> None:
    async with grpc.aio.insecure_channel(target) as channel:
        hello: Any = channel.unary_unary(
            "/weightrollout.agent.v1.Agent/Hello",
            request_serializer=pb.HelloRequest.SerializeToString,
            response_deserializer=pb.AgentState.FromString,
        )
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await hello(HELLO, timeout=5, metadata=bearer(issuer.token()))
    assert error.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_expired_token_is_refused_with_both_times(target: str, issuer: Issuer) -> None:
    now = int(time.time())
    token = issuer.token(iat=now - 800, nbf=now - 800, exp=now - 200)
    message = await refused(target, token, CallerReason.TOKEN_EXPIRED)
    ended = datetime.fromtimestamp(now - 200, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert f"ended at {ended}" in message
    assert "this node's clock says" in message


async def test_token_of_the_future_names_the_clocks(target: str, issuer: Issuer) -> None:
    now = int(time.time())
    token = issuer.token(iat=now + 300, nbf=now + 300, exp=now + 900)
    message = await refused(target, token, CallerReason.CLOCK_SKEW)
    begins = datetime.fromtimestamp(now + 300, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert f"begins at {begins}" in message
    assert "this node's clock says" in message


@pytest.mark.parametrize("late_s", [-30, 30])
async def test_clocks_may_differ_by_half_a_minute(
    issuer: Issuer, tmp_path: Path, late_s: int
) -> None:
    class Wrong(SystemClock):
        def wall(self) -> datetime:
            return super().wall() + timedelta(seconds=late_s)

    token = issuer.token(exp=int(time.time()) + 10)
    async with guarded(access_by_file(issuer, tmp_path), clock=Wrong()) as found:
        assert (await answer_to(found, token))[0] is grpc.StatusCode.OK


async def test_token_for_another_pod_does_not_open_this_one(target: str, issuer: Issuer) -> None:
    token = issuer.token(audience(NAMESPACE, "another-pod"))
    message = await refused(target, token, CallerReason.OTHER_AUDIENCE)
    assert "another-pod" in message


async def test_token_that_opened_one_pod_is_refused_when_it_is_replayed_to_another(
    target: str, issuer: Issuer, tmp_path: Path
) -> None:
    token = issuer.token()
    assert (await answer_to(target, token))[0] is grpc.StatusCode.OK
    async with guarded(access_by_file(issuer, tmp_path, pod_uid="its-neighbour")) as neighbour:
        await refused(neighbour, token, CallerReason.OTHER_AUDIENCE)


async def test_token_for_the_api_server_does_not_open_an_agent(target: str, issuer: Issuer) -> None:
    await refused(target, issuer.token(ISSUER), CallerReason.OTHER_AUDIENCE)


async def test_token_for_several_is_refused_because_a_stolen_one_would_open_several(
    target: str, issuer: Issuer
) -> None:
    token = issuer.token(aud=[said()["aud"][0], "something-else"])
    await refused(target, token, CallerReason.OTHER_AUDIENCE)


@pytest.mark.parametrize(
    "other",
    [account(NAMESPACE, "default"), account("other", "weightrollout-operator"), "admin", None],
)
async def test_other_account_of_this_cluster_is_denied(
    target: str, issuer: Issuer, other: str | None
) -> None:
    message = await refused(target, issuer.token(sub=other), CallerReason.OTHER_ACCOUNT)
    assert "--operator-account" in message


async def test_token_of_another_cluster_is_refused_whatever_its_claims(
    target: str, issuer: Issuer
) -> None:
    message = await refused(
        target, Issuer([Key("key-of-another")]).token(), CallerReason.KEY_UNKNOWN
    )
    assert "key-of-another" in message


async def test_foreign_key_under_the_name_of_ours_is_no_key_of_ours(
    target: str, issuer: Issuer
) -> None:
    await refused(target, issuer.token(key=Key(issuer.keys[0].name)), CallerReason.TOKEN_INVALID)


async def test_another_issuer_is_refused_where_ours_is_known(target: str, issuer: Issuer) -> None:
    await refused(
        target, issuer.token(iss="https://elsewhere.example"), CallerReason.ISSUER_UNKNOWN
    )


@pytest.mark.parametrize("algorithm", ["none", "None", ""])
async def test_token_without_a_signature_is_refused(
    target: str, issuer: Issuer, algorithm: str
) -> None:
    header = {"alg": algorithm, "kid": issuer.keys[0].name, "typ": "JWT"}
    await refused(target, unsigned(header, said()), CallerReason.TOKEN_INVALID)


async def test_public_key_is_no_shared_secret(target: str, issuer: Issuer) -> None:
    """HS256 with the public key as the secret: whoever reads the JWKS could sign it."""
    key = issuer.keys[0]
    header = {"alg": "HS256", "kid": key.name, "typ": "JWT"}
    for secret in (key.public_pem(), json.dumps(key.public_jwk()).encode()):
        signed = unsigned(header, said()).rpartition(".")[0]
        signature = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
        await refused(target, unsigned(header, said(), signature), CallerReason.TOKEN_INVALID)


async def test_symmetric_key_in_a_jwks_is_not_used(issuer: Issuer, tmp_path: Path) -> None:
    access = access_by_file(issuer, tmp_path)
    secret = {
        "kty": "oct",
        "kid": "shared",
        "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXM",
        "alg": "HS256",
    }
    Path(access.jwks).write_text(json.dumps({"keys": [*issuer.jwks()["keys"], secret]}))
    header = {"alg": "HS256", "kid": "shared"}
    signed = unsigned(header, said()).rpartition(".")[0]
    signature = hmac.new(b"secret-secret-secret-secret-s", signed.encode(), hashlib.sha256).digest()
    async with guarded(access) as found:
        await refused(found, unsigned(header, said(), signature), CallerReason.TOKEN_INVALID)


@pytest.mark.parametrize(
    "claims", [{"exp": None}, {"exp": "soon"}, {"exp": True}, {"exp": 1e300}, {"iat": "now"}]
)
async def test_token_without_sound_times_is_refused(
    target: str, issuer: Issuer, claims: dict[str, Any]
) -> None:
    await refused(target, issuer.token(**claims), CallerReason.TOKEN_INVALID)


@pytest.mark.parametrize("token", ["x", "a.b.c", "." * 3, "e30.e30.e30", "A" * 7000])
async def test_what_is_no_token_is_refused_in_words(target: str, token: str) -> None:
    assert await refused(target, token, CallerReason.TOKEN_INVALID)


async def test_no_token_is_ever_logged(
    target: str, issuer: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    tokens = [
        issuer.token(audience(NAMESPACE, "another")),
        issuer.token(key=Key("other")),
        issuer.token(exp=1),
        issuer.token(),
    ]
    for token in tokens:
        _, _, message = await answer_to(target, token)
        for part in token.split("."):
            assert part not in message
            assert part not in caplog.text
    assert "was refused" in caplog.text
