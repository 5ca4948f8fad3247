"""The public keys by which this cluster signs tokens: read, kept, read again.

Keys come from a file, or from the API server with the pod's own token. The last good ones stay in force while they cannot be
read; until they were read once nobody can be known (`ClusterKeysUnreachable`).
"""

import asyncio
import json
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp
import jwt

from weightrollout.agent.caller_flags import JWKS_PATH, CallerAccess
from weightrollout.agent.reasons import Refused
from weightrollout.api import names
from weightrollout.api.callers import CallerReason
from weightrollout.clock import Clock

#: A key that is withdrawn is forgotten within this; a new one is asked for when it is first met.
REFRESH_S: Final = 300.0
RETRY_S: Final = (1.0, 30.0)
#: Whoever sends tokens with invented keys makes us ask no more often than this.
UNKNOWN_S: Final = 10.0
READ_S: Final = 10.0
MAX_BYTES: Final = 1 << 20
#: Never `oct`: a symmetric key in a public document is no key.
PUBLIC_KINDS: Final = frozenset({"RSA", "EC", "OKP"})
DISCOVERY_PATH: Final = "/.well-known/openid-configuration"

log = logging.getLogger(__name__)


class KeysUnreadable(Exception):
    """The message says where, and what was wrong."""


@dataclass(frozen=True, slots=True)
class Found:
    keys: dict[str, jwt.PyJWK]  # by key id
    issuer: str = ""  # "": the source does not say


class Source(Protocol):
    where: str

    async def read(self) -> Found:
        """Raises KeysUnreadable."""
        ...


class KeyFile:
    """A JWKS that somebody mounted; without the way to the API server."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)

    async def read(self) -> Found:
        try:
            return Found(_keys(await asyncio.to_thread(Path(self.where).read_bytes)))
        except (OSError, ValueError) as error:
            raise KeysUnreadable(f"{self.where}: {error}") from error


class KeyServer:
    """The API server. Token and CA are read anew each time: the kubelet replaces them."""

    def __init__(self, url: str, folder: Path) -> None:
        self.where = url
        self._folder = folder

    async def read(self) -> Found:
        try:
            context, token = await asyncio.to_thread(self._credentials)
            timeout = aiohttp.ClientTimeout(total=READ_S)
            headers = {"Authorization": f"Bearer {token}"}
            connector = aiohttp.TCPConnector(ssl=context)
            async with aiohttp.ClientSession(
                connector=connector, headers=headers, timeout=timeout
            ) as session:
                keys = _keys(await _get(session, self.where))
                return Found(keys, await self._issuer(session))
        except (OSError, ValueError, aiohttp.ClientError) as error:
            raise KeysUnreadable(f"{self.where}: {error!r}") from error

    def _credentials(self) -> tuple[ssl.SSLContext, str]:
        try:
            context = ssl.create_default_context(cafile=str(self._folder / names.CLUSTER_CA))
            return context, (self._folder / names.CLUSTER_TOKEN).read_text().strip()
        except (OSError, ValueError) as error:
            files = f"{names.CLUSTER_CA} and {names.CLUSTER_TOKEN} in {self._folder}"
            raise KeysUnreadable(f"{files} (--cluster-credentials): {error}") from error

    async def _issuer(self, session: aiohttp.ClientSession) -> str:
        if not self.where.endswith(JWKS_PATH):
            return ""
        url = self.where.removesuffix(JWKS_PATH) + DISCOVERY_PATH
        said = json.loads(await _get(session, url))
        return str(said.get("issuer", "")) if isinstance(said, dict) else ""


def source_of(access: CallerAccess) -> Source:
    if access.jwks.startswith("https://"):
        return KeyServer(access.jwks, access.cluster)
    return KeyFile(Path(access.jwks.removeprefix("file://")))


@dataclass(slots=True)
class ClusterKeys:
    """`run` keeps them fresh; `key` finds one."""

    source: Source
    clock: Clock
    issuers: set[str] = field(default_factory=set)  # given, and all that were ever read
    _keys: dict[str, jwt.PyJWK] = field(default_factory=dict)
    _why: str = "not read yet"
    _tried_at: float | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self) -> None:
        """Never returns."""
        retry_s = RETRY_S[0]
        while True:
            if await self._refresh():
                retry_s = RETRY_S[0]
                await asyncio.sleep(REFRESH_S)
            else:
                await asyncio.sleep(retry_s)
                retry_s = min(2 * retry_s, RETRY_S[1])

    async def key(self, key_id: str) -> jwt.PyJWK:
        """Raises Refused."""
        if key_id not in self._keys:
            await self._ask_again(lambda: key_id in self._keys)
        found = self._keys.get(key_id)
        if found is not None:
            return found
        if not self._keys:
            raise Refused(
                CallerReason.KEYS_UNREACHABLE,
                f"the cluster's keys cannot be read, so no caller can be known: {self._why}",
            )
        raise Refused(
            CallerReason.KEY_UNKNOWN,
            f"the token is signed with key {key_id[:80]!r}, which is none of the {len(self._keys)}"
            f" of {self.source.where}: another cluster's, or an old one",
        )

    async def issued_here(self, issuer: str) -> bool:
        """Also where no issuer is known."""
        if self.issuers and issuer not in self.issuers:
            await self._ask_again(lambda: issuer in self.issuers)
        return not self.issuers or issuer in self.issuers

    async def _ask_again(self, is_known: Callable[[], bool]) -> None:
        async with self._lock:
            if is_known():
                return  # the one before us asked
            now = self.clock.monotonic()
            if self._tried_at is not None and now < self._tried_at + UNKNOWN_S:
                return
            await self._read()

    async def _refresh(self) -> bool:
        async with self._lock:
            return await self._read()

    async def _read(self) -> bool:
        self._tried_at = self.clock.monotonic()
        try:
            found = await self.source.read()
        except KeysUnreadable as wrong:
            if str(wrong) != self._why:
                kept = "; the earlier ones stay in force" if self._keys else ""
                log.warning("the cluster's keys cannot be read: %s%s", wrong, kept)
            self._why = str(wrong)
            return False
        if found.keys.keys() != self._keys.keys():
            log.info("read %d keys of %s", len(found.keys), self.source.where)
        self._keys, self._why = found.keys, ""
        if found.issuer:
            self.issuers.add(found.issuer)
        return True


async def _get(session: aiohttp.ClientSession, url: str) -> bytes:
    """At most MAX_BYTES. Raises ValueError for any other answer."""
    async with session.get(url, allow_redirects=False) as answer:
        if answer.status != 200:
            raise ValueError(f"{url} answers {answer.status}")
        body = bytearray()
        async for chunk in answer.content.iter_any():
            body += chunk
            if len(body) > MAX_BYTES:
                raise ValueError(f"{url}: more than {MAX_BYTES} bytes")
    return bytes(body)


def _keys(text: bytes) -> dict[str, jwt.PyJWK]:
    """The usable public ones. Raises ValueError where there is none."""
    said: Any = json.loads(text)
    listed = said.get("keys") if isinstance(said, dict) else None
    found = {}
    for each in listed if isinstance(listed, list) else []:
        if not isinstance(each, dict) or each.get("kty") not in PUBLIC_KINDS:
            continue
        try:
            found[str(each.get("kid", ""))] = jwt.PyJWK.from_dict(each)
        except jwt.PyJWTError:
            continue  # of a kind that came after this release; the others are as good as ever
    if not found:
        raise ValueError("holds no public key that can be used")
    return found
