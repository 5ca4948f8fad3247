"""What a token says, and whether that lets its bearer in. Keys come from `cluster_keys`; no token is ever logged."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol

import jwt

from weightrollout.agent.reasons import Refused
from weightrollout.api.callers import CallerReason

#: Of public keys only: what is signed with a shared secret was signed by anybody who can read a JWKS.
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
#: How far the clocks of two machines may differ.
LEEWAY_S: Final = 60.0
MAX_TOKEN: Final = 16 * 1024
#: The signature alone; times, audience and account are judged below, with our clock and our words.
SIGNATURE_ONLY: Final[Any] = {
    f"verify_{claim}": False for claim in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")
}


class Keys(Protocol):
    async def key(self, key_id: str) -> jwt.PyJWK: ...

    async def issued_here(self, issuer: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Rules:
    audience: str  # of this one pod
    accounts: frozenset[str]


async def check(token: str, rules: Rules, keys: Keys, now: datetime) -> str:
    """The account that sent it. Raises Refused."""
    key = await keys.key(_key_id(token))
    try:
        claims = jwt.decode(token, key, algorithms=ALGORITHMS, options=SIGNATURE_ONLY)
    except jwt.PyJWTError as error:
        raise _invalid(error) from error
    issuer = str(claims.get("iss", ""))
    if not await keys.issued_here(issuer):
        raise Refused(CallerReason.ISSUER_UNKNOWN, f"the token's issuer is {issuer[:200]!r}")
    _in_time(claims, now.timestamp())
    return _for_us(claims, rules)


def _key_id(token: str) -> str:
    if len(token) > MAX_TOKEN:
        raise Refused(CallerReason.TOKEN_INVALID, f"a token of {len(token)} bytes")
    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError as error:
        raise _invalid(error) from error
    if header.get("alg") not in ALGORITHMS:
        raise Refused(
            CallerReason.TOKEN_INVALID,
            f"the token is signed by {str(header.get('alg'))[:20]!r}, not with a public key",
        )
    return str(header.get("kid", ""))


def _invalid(error: jwt.PyJWTError) -> Refused:
    """PyJWT's words are about a token's form; they never quote it."""
    return Refused(CallerReason.TOKEN_INVALID, f"the token is not sound: {str(error)[:200]}")


def _in_time(claims: dict[str, Any], now: float) -> None:
    begins = max(_number(claims, "iat", 0.0), _number(claims, "nbf", 0.0))
    ends = _number(claims, "exp", None)
    if begins > now + LEEWAY_S:
        raise Refused(
            CallerReason.CLOCK_SKEW,
            f"the token begins at {_time(begins)}, and this node's clock says {_time(now)}: set the"
            " clocks of this node and of the API server's right",
        )
    if ends < now - LEEWAY_S:
        raise Refused(
            CallerReason.TOKEN_EXPIRED,
            f"the token ended at {_time(ends)}, and this node's clock says {_time(now)}",
        )


def _for_us(claims: dict[str, Any], rules: Rules) -> str:
    found = claims.get("aud")
    audiences = found if isinstance(found, list) else [found]
    # Nothing beside ours: a token with more audiences opens more doors when it is stolen.
    if audiences != [rules.audience]:
        shown = ", ".join(str(each)[:100] for each in audiences[:2])
        raise Refused(
            CallerReason.OTHER_AUDIENCE,
            f"the token is for {shown or 'nobody'}, and this agent is {rules.audience}",
        )
    account = str(claims.get("sub", ""))
    if account not in rules.accounts:
        allowed = ", ".join(sorted(rules.accounts))
        raise Refused(
            CallerReason.OTHER_ACCOUNT,
            f"{account[:300]} is not allowed to call; allowed: {allowed} (--operator-account)",
        )
    return account


def _number(claims: dict[str, Any], name: str, absent: float | None) -> float:
    value = claims.get(name, absent)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e11:
        raise Refused(CallerReason.TOKEN_INVALID, f"the token's {name!r} is no time")
    return float(value)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
