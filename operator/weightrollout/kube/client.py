"""One connection to one API server: plain JSON in and out, a deadline on every call.

Bodies are dictionaries on purpose: the client's model classes cost more CPU per object than the
server's answer (measured: 0.35 s instead of 1.0 s per 1,000 watch events) and their first import
blocks the event loop for a second.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
from kubernetes.aio import config
from kubernetes.aio.client.api_client import ApiClient
from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.client.exceptions import ApiException

from weightrollout.kube.connection import Connection, Credentials, open_connection
from weightrollout.kube.errors import (
    KubeError,
    NamespaceEnds,
    TooManyRequests,
    Unavailable,
    error_of,
)

Json = dict[str, Any]

#: Not the library's own spelling, so that it sends our text as it is.
APPLY: Final = "application/apply-patch+yaml; charset=utf-8"
MERGE: Final = (
    "application/merge-patch+json"  # never for a list that others write too, such as conditions
)
JSON: Final = "application/json"

IN_FLIGHT: Final = 16  # more gave no throughput on a real server, only latency
DEADLINE_S: Final = 15.0
CONNECT_S: Final = 5.0
LINE_BYTES: Final = 8 * 1024 * 1024  # a watch event is one line; an object has at most 1.5 MiB

#: In the place of a namespace: all of them, to list and to watch.
EVERYWHERE: Final = ""

#: In the place of the code of an answer that says no right is missing: its namespace is being deleted.
ENDING: Final = "403-ending"
FORBIDDEN: Final = 403

Observer = Callable[[str, int | str], None]


class Client:
    """Use `connect`. `observe` is told (verb, HTTP code or ENDING) of every request; code 0 is no answer."""

    def __init__(
        self,
        connection: Connection,
        namespace: str,
        observe: Observer = lambda verb, code: None,
        slots: asyncio.Semaphore | None = None,
    ) -> None:
        self.namespace = namespace  # or EVERYWHERE
        self.connection = connection
        self._observe = observe
        self._slots = slots or asyncio.Semaphore(IN_FLIGHT)

    def beside(self) -> "Client":
        """For calls that must not wait behind the others, such as the renewal of the Lease."""
        return Client(self.connection, self.namespace, self._observe)

    def within(self, namespace: str) -> "Client":
        """The same one for another namespace, or EVERYWHERE: the two share how many calls are in flight."""
        return Client(self.connection, namespace, self._observe, self._slots)

    def collection(self, api: str, plural: str) -> str:
        """The path of a kind in our namespace, or everywhere; `api` is such as /apis/apps/v1."""
        return (
            f"{api}/namespaces/{self.namespace}/{plural}" if self.namespace else f"{api}/{plural}"
        )

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Json:
        return await self.request("GET", path, query=query)

    async def create(self, path: str, body: Json, query: Mapping[str, str] | None = None) -> Json:
        return await self.request("POST", path, query=query, body=body)

    async def replace(self, path: str, body: Json) -> Json:
        return await self.request("PUT", path, body=body)

    async def apply(self, path: str, body: Json, field_manager: str) -> Json:
        """Server-side apply, forced. A `metadata.resourceVersion` or `uid` in the body is checked."""
        query = {"fieldManager": field_manager, "force": "true"}
        return await self.request("PATCH", path, query=query, body=body, content_type=APPLY)

    async def merge(self, path: str, body: Json) -> Json:
        return await self.request("PATCH", path, body=body, content_type=MERGE)

    async def delete(self, path: str, body: Json | None = None) -> Json:
        return await self.request("DELETE", path, body=body)

    async def request(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Json | None = None,
        content_type: str = JSON,
        deadline_s: float = DEADLINE_S,
        patient: bool = True,
    ) -> Json:
        """One call; where we are patient, 429 is repeated as the server asks while the deadline allows it."""
        what = f"{verb} {path}"
        try:
            async with asyncio.timeout(deadline_s), self._slots:
                while True:
                    try:
                        return await self._once(verb, path, query or {}, body, content_type)
                    except TooManyRequests as busy:
                        if not patient:
                            raise
                        await asyncio.sleep(busy.retry_after_s)
        except TimeoutError as late:
            raise Unavailable(f"{what}: no answer within {deadline_s:g} s") from late

    async def _once(
        self, verb: str, path: str, query: Mapping[str, str], body: Json | None, content_type: str
    ) -> Json:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
        answer = await self._send(verb, path, query, body, content_type, timeout)
        try:
            data: bytes = await answer.read()
        except (aiohttp.ClientError, OSError) as lost:
            raise Unavailable(f"{verb} {path}: the answer was cut: {lost!r}") from lost
        if answer.status >= 400:
            asked = answer.headers.get("Retry-After")
            raise self._refusal(verb, path, answer.status, data, asked)
        return _object(f"{verb} {path}", data)

    @asynccontextmanager
    async def stream(
        self, path: str, query: Mapping[str, str], total_s: float
    ) -> AsyncIterator[aiohttp.StreamReader]:
        """A watch: lines of JSON. The caller bounds every single read."""
        timeout = aiohttp.ClientTimeout(total=total_s, sock_connect=CONNECT_S)
        async with asyncio.timeout(DEADLINE_S):
            answer = await self._send("WATCH", path, query, None, JSON, timeout)
        try:
            if answer.status >= 400:
                async with asyncio.timeout(DEADLINE_S):
                    said = await answer.read()
                asked = answer.headers.get("Retry-After")
                raise self._refusal("WATCH", path, answer.status, said, asked)
            yield answer.content
        finally:
            answer.close()

    def _refusal(
        self, verb: str, path: str, status: int, said: bytes, retry_after: str | None
    ) -> KubeError:
        error = error_of(f"{verb} {path}", status, said, retry_after)
        if status == FORBIDDEN:  # only now it is known which
            self._observe(verb, ENDING if isinstance(error, NamespaceEnds) else status)
        return error

    async def _send(
        self,
        verb: str,
        path: str,
        query: Mapping[str, str],
        body: Json | None,
        content_type: str,
        timeout: aiohttp.ClientTimeout,
    ) -> aiohttp.ClientResponse:
        """Credentials that are refused are read again, and the call is repeated once with them."""
        what, api = f"{verb} {path}", self.connection.api
        try:
            answer = await self._call(api, verb, path, query, body, content_type, timeout)
        except aiohttp.ClientSSLError as foreign:
            if not await self.connection.renew(api, f"{what}: {foreign!r}"):
                raise Unavailable(f"{what}: {foreign!r}") from foreign
        except (aiohttp.ClientError, OSError, ApiException) as lost:
            raise Unavailable(f"{what}: {lost!r}") from lost
        else:
            if answer.status != 401 or not await self.connection.renew(api, f"{what}: 401"):
                return answer
            answer.close()
        try:
            api = self.connection.api
            return await self._call(api, verb, path, query, body, content_type, timeout)
        except (aiohttp.ClientError, OSError, ApiException) as lost:
            raise Unavailable(f"{what}: {lost!r}") from lost

    async def _call(
        self,
        api: ApiClient,
        verb: str,
        path: str,
        query: Mapping[str, str],
        body: Json | None,
        content_type: str,
        timeout: aiohttp.ClientTimeout,
    ) -> aiohttp.ClientResponse:
        headers = {"Accept": JSON, "Content-Type": content_type}
        method = "GET" if verb == "WATCH" else verb
        code = 0
        try:
            _, url, headers, _, _ = await api.param_serialize(
                method,
                path,
                query_params=list(query.items()),
                header_params=headers,
                auth_settings=["BearerToken"],
            )
            sent = _as_yaml(body) if content_type == APPLY else body
            answer = await api.call_api(method, url, headers, sent, _request_timeout=timeout)
            code = answer.status
        finally:
            if code != FORBIDDEN:
                self._observe(verb, code)
        response: aiohttp.ClientResponse = answer.response
        return response


@asynccontextmanager
async def connect(
    namespace: str, kubeconfig: Path | None, observe: Observer = lambda verb, code: None
) -> AsyncIterator[Client]:
    """A client from a kubeconfig file, or from the pod's own ServiceAccount where there is none."""
    source = str(kubeconfig or "this pod's ServiceAccount")

    async def load() -> Configuration:
        settings = client_settings(trust_env=False)
        if kubeconfig is None:
            config.load_incluster_config(settings)  # type: ignore[no-untyped-call]
        else:
            await config.load_kube_config(  # type: ignore[no-untyped-call]
                str(kubeconfig), client_configuration=settings, persist_config=False
            )
        return settings

    try:
        connection = await open_connection(Credentials(source, load, "weightrollout"))
    except config.ConfigException as wrong:
        raise KubeError(
            f"cannot use {source}: {wrong}; pass --kubeconfig FILE outside a cluster"
        ) from wrong
    try:
        yield Client(connection, namespace, observe)
    finally:
        await connection.close()


def client_settings(trust_env: bool) -> Configuration:
    settings = Configuration()
    # A repeated call is our decision, and so is its deadline. False would mean "without an end".
    settings.retries = None
    settings.client_session_kwargs = {"read_bufsize": LINE_BYTES, "trust_env": trust_env}
    return settings


def _object(what: str, data: bytes) -> Json:
    """An answer that is no JSON object comes from something between us and the API server."""
    try:
        found = json.loads(data)
    except ValueError as cut:
        raise Unavailable(f"{what}: the answer is no JSON: {data[:200]!r}") from cut
    if not isinstance(found, dict):
        raise Unavailable(f"{what}: the answer is no object: {data[:200]!r}")
    return found


def _as_yaml(body: Json | None) -> str:
    """JSON that is YAML too: the server's YAML parser refuses the surrogate pairs of JSON's escapes."""
    text = re.sub("[\ud800-\udfff]", "\ufffd", json.dumps(body, ensure_ascii=False))
    return re.sub("[\x7f-\uffff]", lambda found: f"\\u{ord(found[0]):04x}", text)
