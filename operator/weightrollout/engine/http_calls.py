"""One HTTP call with a deadline, and what is known when no answer comes. What an answer means is the adapter's."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp

from weightrollout.engine.errors import EngineRefused, EngineStateUnknown, EngineUnreachable
from weightrollout.engine.tls import REFUSED, TlsFiles, TlsReader

#: The longest answer that is read; a page of metrics has about 100 KB.
MAX_BYTES: Final = 16 << 20

Query = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    text: str
    where: str  # method and address, for people

    @property
    def words(self) -> str:
        """For people."""
        return f"{self.where}: {self.status} {self.text[:300]}"

    def json(self) -> Any:
        """Raises EngineStateUnknown."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise nonsense(self.where) from error


class HttpCalls:
    """To one server at `base_url`, such as http://127.0.0.1:8000. Used inside one event loop.

    `tls` is for https. `token` is a file with what is shown as a bearer; it is read for every call, so that it
    can rotate. `fresh`: a connection for each call, because one that the server just let go would leave a
    call's outcome unknown.
    """

    def __init__(
        self,
        base_url: str,
        tls: TlsFiles | None = None,
        token: Path | None = None,
        *,
        fresh: bool = False,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._tls = TlsReader(tls) if tls is not None else None
        self._token = token
        self._fresh = fresh
        self._session: aiohttp.ClientSession | None = None

    async def ask(
        self,
        method: str,
        path: str,
        *,
        deadline_s: float,
        body: bytes | None = None,
        query: Query = (),
    ) -> Reply:
        """Whatever its status. `body` is JSON. Raises EngineUnreachable, EngineStateUnknown."""
        if self._session is None:
            connector = aiohttp.TCPConnector(force_close=self._fresh)
            self._session = aiohttp.ClientSession(connector=connector)
        headers = self._headers()
        if body is not None:
            headers["Content-Type"] = "application/json"
        where = f"{method} {self.base_url}{path}"
        try:
            async with self._session.request(
                method,
                f"{self.base_url}{path}",
                params=query,
                data=body,
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=deadline_s),
                allow_redirects=False,
                ssl=self._tls.current().context if self._tls else True,
                server_hostname=(self._tls.files.server_name or None) if self._tls else None,
            ) as response:
                return Reply(response.status, await _text(response, where), where)
        except aiohttp.ClientConnectorCertificateError as error:
            raise EngineUnreachable(REFUSED, f"{where}: {error}") from error
        except aiohttp.ClientConnectorError as error:
            raise EngineUnreachable("EngineUnreachable", f"{where}: {error}") from error
        except TimeoutError as error:
            raise EngineStateUnknown(
                "DeadlineExceeded", f"{where}: no answer within {deadline_s:g} s"
            ) from error
        except aiohttp.ClientError as error:
            raise EngineStateUnknown("ConnectionLost", f"{where}: {error}") from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _headers(self) -> dict[str, str]:
        if self._token is None:
            return {}
        try:
            return {"Authorization": f"Bearer {self._token.read_text().strip()}"}
        except (OSError, ValueError) as error:
            raise EngineUnreachable("ApiKeyUnreadable", f"{self._token}: {error}") from error


async def _text(response: aiohttp.ClientResponse, where: str) -> str:
    """As UTF-8, whatever the answer says it is; what is not becomes a question mark."""
    data = bytearray()
    async for part in response.content.iter_any():
        data += part
        if len(data) > MAX_BYTES:
            raise EngineStateUnknown("AnswerTooLong", f"{where}: more than {MAX_BYTES} bytes")
    return data.decode(errors="replace")


def nonsense(where: str) -> EngineStateUnknown:
    return EngineStateUnknown("UnexpectedAnswer", f"{where} did not answer as vLLM does")


def json_object(name: str, payload: bytes) -> Any:
    """What `vllm.Control` takes as `name`. Raises EngineRefused in its words."""
    try:
        body = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise EngineRefused(
            "InvalidArgument", f"{name} must contain valid JSON: {error}"
        ) from error
    if not isinstance(body, dict):
        raise EngineRefused("InvalidArgument", f"{name} must contain a JSON object")
    return body
