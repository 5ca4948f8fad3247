"""One HTTP request whose answer is bounded in time and size, to hosts of the list only.

Unanswered            nobody can say: reason and message
`-- Transient         no connection, a broken one, or 5xx: the same request may be sent again
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import aiohttp
from yarl import URL

from weightrollout.api.reasons import MeasurementReason
from weightrollout.controller.measuring.hosts import Hosts

LONGEST_TEXT: Final = 200
LONGEST_QUESTION: Final = 256 * 1024


class Unanswered(Exception):
    def __init__(self, reason: MeasurementReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Transient(Unanswered):
    pass


@dataclass(frozen=True, slots=True)
class Limits:
    seconds: float  # of one request, from connecting to the last byte
    answer_bytes: int


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes


def url_of(text: str) -> URL:
    """Raises Unanswered: the API server let it through, and it names no host."""
    try:
        url = URL(text)
        if url.raw_host:
            return url
    except ValueError:
        pass
    raise Unanswered(MeasurementReason.HOST_DENIED, f"no URL with a host: {readable(text)}")


async def post(
    hosts: Hosts, url: URL, body: bytes, headers: Mapping[str, str], limits: Limits
) -> Reply:
    """Raises Unanswered. Statuses of 4xx are replies: what asks knows what they mean."""
    where = f"{url.raw_host}:{url.port}"
    if not hosts.allow(url):
        message = f"{where} is not on the operator's list: --analysis-host {where} allows it"
        raise Unanswered(MeasurementReason.HOST_DENIED, message)
    if len(body) > LONGEST_QUESTION:
        message = f"the question has {len(body)} bytes, {LONGEST_QUESTION} may be sent"
        raise Unanswered(MeasurementReason.TOO_LARGE, message)
    try:
        async with asyncio.timeout(limits.seconds):
            reply = await _post(url, body, headers, limits)
    except TimeoutError as late:
        message = f"{where}: no whole answer within {limits.seconds:g} s"
        raise Unanswered(MeasurementReason.TIMED_OUT, message) from late
    except (aiohttp.ClientError, OSError, ValueError) as error:
        message = f"{where}: {readable(str(error)) or type(error).__name__}"
        raise Transient(MeasurementReason.UNREACHABLE, message) from error
    if reply.status >= 500:
        message = f"{where}: HTTP {reply.status}: {readable(reply.body)}"
        raise Transient(MeasurementReason.HTTP_ERROR, message)
    if 300 <= reply.status < 400:
        message = f"{where}: HTTP {reply.status} points elsewhere: give the final URL"
        raise Unanswered(MeasurementReason.REDIRECTED, message)
    return reply


async def _post(url: URL, body: bytes, headers: Mapping[str, str], limits: Limits) -> Reply:
    """No proxy of the environment, no cookies, no compression, no second hop."""
    whole = {**headers, "Accept-Encoding": "identity"}
    async with (
        aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
        ) as session,
        session.post(url, data=body, headers=whole, allow_redirects=False) as response,
    ):
        read = bytearray()
        async for chunk in response.content.iter_any():
            read += chunk
            if len(read) > limits.answer_bytes:
                message = f"{url.raw_host}: the answer has more than {limits.answer_bytes} bytes"
                raise Unanswered(MeasurementReason.TOO_LARGE, message)
        return Reply(response.status, bytes(read))


def readable(text: str | bytes) -> str:
    """A stranger's words for status and log: one short line that a terminal can show."""
    if isinstance(text, bytes):
        text = text[: 4 * LONGEST_TEXT].decode("utf-8", errors="replace")
    line = " ".join(text[: 4 * LONGEST_TEXT].split())
    return "".join(each if each.isprintable() else "?" for each in line)[:LONGEST_TEXT]
