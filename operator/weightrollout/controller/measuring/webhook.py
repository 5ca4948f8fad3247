"""A POST to a user's service, signed, and its word: Successful, Failed or Inconclusive.

    X-WeightRollout-Timestamp: <unix seconds>
    X-WeightRollout-Signature: sha256=<hex HMAC-SHA256 of "<timestamp>." and the body>

Only that word counts. A status, a page of some proxy or an empty answer says nothing. The `id` in the
body is the same when the same question is sent again.
"""

import asyncio
import hashlib
import hmac
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from yarl import URL

from weightrollout.api.reasons import MeasurementReason
from weightrollout.api.status import MeasurementOutcome
from weightrollout.controller.measuring.call import (
    Limits,
    Reply,
    Transient,
    Unanswered,
    post,
    readable,
)
from weightrollout.controller.measuring.hosts import Hosts

LIMITS: Final = Limits(seconds=10.0, answer_bytes=64 * 1024)
TRIES: Final = 3
BETWEEN_S: Final = 0.5  # doubled each time
SHORTEST_KEY: Final = 16  # bytes; what is shorter can be guessed


@dataclass(frozen=True, slots=True)
class Word:
    outcome: MeasurementOutcome
    value: float | None
    message: str


@dataclass(frozen=True, slots=True)
class Signed:
    body: bytes
    headers: Mapping[str, str]


def signed(said: Mapping[str, object], key: bytes, timestamp: int) -> Signed:
    body = json.dumps(said, separators=(",", ":"), sort_keys=True).encode()
    digest = hmac.new(key, f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-WeightRollout-Timestamp": str(timestamp),
        "X-WeightRollout-Signature": f"sha256={digest}",
    }
    return Signed(body, headers)


def read_key(path: Path | None) -> bytes:
    """Read for each question, so that it may rotate. Raises Unanswered."""
    if path is None:
        message = "the operator has no key to sign with: --webhook-key-file"
        raise Unanswered(MeasurementReason.NO_KEY, message)
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        message = f"{path}: {error.strerror or error}"
        raise Unanswered(MeasurementReason.NO_KEY, message) from error
    if len(key) < SHORTEST_KEY:
        message = f"{path} has {len(key)} bytes, a key has at least {SHORTEST_KEY}"
        raise Unanswered(MeasurementReason.NO_KEY, message)
    return key


async def ask(
    hosts: Hosts,
    url: URL,
    question: Signed,
    limits: Limits = LIMITS,
    between_s: float = BETWEEN_S,
) -> Word:
    """Sent again only where it did not arrive, or where the service itself broke. Raises Unanswered."""
    for attempt in range(TRIES - 1):
        try:
            return _word(await post(hosts, url, question.body, question.headers, limits))
        except Transient:
            await asyncio.sleep(between_s * 2.0**attempt)
    return _word(await post(hosts, url, question.body, question.headers, limits))


def _word(reply: Reply) -> Word:
    if reply.status != 200:
        message = f"HTTP {reply.status}: {readable(reply.body)}"
        raise Unanswered(MeasurementReason.HTTP_ERROR, message)
    try:
        said = json.loads(reply.body)
        outcome = MeasurementOutcome(said["result"])
    except (ValueError, KeyError, TypeError, RecursionError) as wrong:
        message = f'no {{"result": "Successful"}} or Failed or Inconclusive: {readable(reply.body)}'
        raise Unanswered(MeasurementReason.NOT_UNDERSTOOD, message) from wrong
    return Word(outcome, _value(said.get("value")), readable(str(said.get("message") or "")))


def _value(said: Any) -> float | None:
    """For people only; what is no number is left out."""
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    try:
        return float(said) if math.isfinite(said) else None
    except OverflowError:
        return None
