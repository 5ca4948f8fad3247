"""A small Kubernetes client for tests: plain JSON in, plain JSON out, and list+watch that survives API server restarts.

It speaks only to the kubeconfig it was given. Objects are dictionaries as the API server sends them; nothing is validated here.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

import aiohttp

from localcluster.kubeconfig import read_kubeconfig

Json = dict[str, Any]
Key = tuple[str, str]  # namespace ("" for cluster-wide objects), name
PatchKind = Literal["strategic", "merge", "json", "apply"]

PATCH_TYPES: Final[Mapping[PatchKind, str]] = {
    "strategic": "application/strategic-merge-patch+json",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}
# One watch event is one line; the API server's own limit for an object is 1.5 MiB.
LINE_BYTES: Final = 8 * 1024 * 1024
CONNECTIONS: Final = 100  # each watch takes one
WATCH_S: Final = 300  # the server ends a watch after that; an idle one is found dead soon after
PAGE: Final = 500

log = logging.getLogger(__name__)


class ApiError(Exception):
    """The API server answered, with a refusal: nothing was changed."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        """Keep what the server said; `status` 410 means that a watch has to list again."""
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason


Unreachable = (aiohttp.ClientError, TimeoutError, OSError)  # the outcome of the call is unknown


class Api:
    """One connection pool to one API server; use as an async context manager, within one event loop."""

    def __init__(self, kubeconfig: Path, deadline_s: float = 60.0) -> None:
        """Every call but a watch ends within `deadline_s`, or raises one of `Unreachable`."""
        self.access = read_kubeconfig(kubeconfig)
        self._deadline_s = deadline_s
        self._session: aiohttp.ClientSession | None = None
        self._kinds: dict[tuple[str, str], tuple[str, bool]] = {}

    async def __aenter__(self) -> Self:
        headers = {"Accept": "application/json"}
        if self.access.token:
            headers["Authorization"] = f"Bearer {self.access.token}"
        self._session = aiohttp.ClientSession(
            base_url=self.access.server,
            headers=headers,
            connector=aiohttp.TCPConnector(ssl=self.access.tls(), limit=CONNECTIONS),
            read_bufsize=LINE_BYTES,
            trust_env=False,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, path: str, **query: str) -> Json:
        """GET one object, or one page of a list."""
        return await self._call("GET", path, query)

    async def list(self, path: str, **query: str) -> tuple[list[Json], str]:
        """All objects of a list, page by page, and the resourceVersion to watch from."""
        items: list[Json] = []
        page = await self.get(path, limit=str(PAGE), **query)
        while True:
            items += page["items"] or []
            more = page["metadata"].get("continue")
            if not more:
                return items, page["metadata"]["resourceVersion"]
            page = await self.get(path, limit=str(PAGE), **{**query, "continue": more})

    async def create(self, path: str, body: Json, **query: str) -> Json:
        """POST an object to its collection."""
        return await self._call("POST", path, query, body)

    async def replace(self, path: str, body: Json, **query: str) -> Json:
        """PUT an object; a resourceVersion in it is checked by the server."""
        return await self._call("PUT", path, query, body)

    async def patch(
        self, path: str, body: Any, kind: PatchKind = "strategic", **query: str
    ) -> Json:
        """PATCH an object. `apply` needs the query `fieldManager`, and usually `force="true"`."""
        return await self._call("PATCH", path, query, body, PATCH_TYPES[kind])

    async def delete(self, path: str, body: Json | None = None, **query: str) -> Json:
        """DELETE an object; `body` are DeleteOptions."""
        return await self._call("DELETE", path, query, body)

    async def text(self, path: str) -> str:
        """GET something that is not JSON, as /readyz."""
        async with self._open().get(
            path, timeout=aiohttp.ClientTimeout(total=self._deadline_s)
        ) as answer:
            text = await answer.text()
            if answer.status >= 400:
                raise ApiError(answer.status, answer.reason or "", text[-2000:])
            return text

    async def apply(self, manifest: Json, manager: str = "localcluster-tests") -> Json:
        """Server-side apply of any kind of object, forced; a namespaced one without a namespace goes to the context's."""
        return await self.patch(
            await self.path_of(manifest),
            manifest,
            "apply",
            fieldManager=manager,
            force="true",
            fieldValidation="Strict",
        )

    async def path_of(self, manifest: Json) -> str:
        """The API path of an object, from its apiVersion, kind, namespace and name (by discovery)."""
        version, kind = manifest["apiVersion"], manifest["kind"]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if (version, kind) not in self._kinds:
            for resource in (await self.get(root))["resources"]:
                if "/" not in resource["name"]:
                    self._kinds[version, resource["kind"]] = (
                        resource["name"],
                        resource["namespaced"],
                    )
        plural, namespaced = self._kinds[version, kind]
        if namespaced:
            root += f"/namespaces/{manifest['metadata'].get('namespace', self.access.namespace)}"
        return f"{root}/{plural}/{manifest['metadata']['name']}"

    async def watch(self, path: str, resource_version: str, **query: str) -> AsyncIterator[Json]:
        """Watch events from `resource_version` until the server ends the stream; ERROR events raise ApiError."""
        query = {
            **query,
            "watch": "true",
            "resourceVersion": resource_version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_S),
        }
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=self._deadline_s, sock_read=90
        )  # bookmarks: each minute
        async with self._open().get(path, params=query, timeout=timeout) as answer:
            if answer.status >= 400:
                raise await _refusal(answer)
            while line := await answer.content.readline():
                event: Json = json.loads(line)
                if event["type"] == "ERROR":
                    said = event["object"]
                    raise ApiError(
                        said.get("code", 500), said.get("reason", ""), said.get("message", "")
                    )
                yield event

    async def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Any = None,
        content: str = "application/json",
    ) -> Json:
        async with self._open().request(
            method,
            path,
            params=query,
            data=None if body is None else json.dumps(body, ensure_ascii=False),
            headers=None if body is None else {"Content-Type": content},
            timeout=aiohttp.ClientTimeout(total=self._deadline_s),
        ) as answer:
            if answer.status >= 400:
                raise await _refusal(answer)
            found: Json = await answer.json()
            return found

    def _open(self) -> aiohttp.ClientSession:
        assert self._session is not None, "use the Api as an async context manager"
        return self._session


async def _refusal(answer: aiohttp.ClientResponse) -> ApiError:
    text = await answer.text()
    try:
        said = json.loads(text)
    except ValueError:
        return ApiError(answer.status, answer.reason or "", text[-2000:])
    return ApiError(answer.status, said.get("reason", ""), said.get("message", ""))


def key_of(item: Json) -> Key:
    """Namespace and name."""
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]


class Mirror:
    """The objects of one list, kept up to date by list+watch; `run` it as a task.

    Survives API server restarts and restored data: it lists again and reports what has gone meanwhile.
    """

    def __init__(
        self,
        api: Api,
        path: str,
        on_set: Callable[[Json], None] = lambda _: None,
        on_gone: Callable[[Json], None] = lambda _: None,
        **query: str,
    ) -> None:
        """The callbacks run in the event loop and must not block; a recreated object is gone first, then set."""
        self.objects: dict[Key, Json] = {}
        self.synced = asyncio.Event()
        self._api, self._path, self._query = api, path, query
        self._on_set, self._on_gone = on_set, on_gone
        self._version = ""  # "": has to list

    def learn(self, item: Json) -> None:
        """Take in an object that was read in another way, unless what we have is newer."""
        known = self.objects.get(key_of(item))
        if known is None or int(known["metadata"]["resourceVersion"]) < int(
            item["metadata"]["resourceVersion"]
        ):
            self._set(item)

    async def run(self) -> None:
        """Never returns; cancel it."""
        delay_s = 0.05
        while True:
            try:
                if not self._version:
                    await self._list()
                delay_s = 0.05
                async for event in self._api.watch(self._path, self._version, **self._query):
                    self._take(event)
            except ApiError as refused:
                log.info("watch of %s starts over: %s", self._path, refused)
                self._version = ""
            except Unreachable as lost:
                log.debug("watch of %s starts over: %r", self._path, lost)
                self._version = ""  # the server may come back with older data
            await asyncio.sleep(
                delay_s
            )  # not for a fact: only to spare a server that is away or ends watches at once
            delay_s = min(delay_s * 2, 1.0)

    async def _list(self) -> None:
        items, version = await self._api.list(self._path, **self._query)
        found = {key_of(item): item for item in items}
        for key in [key for key in self.objects if key not in found]:
            self._on_gone(self.objects.pop(key))
        for item in items:
            self._set(item)
        self._version = version
        self.synced.set()

    def _take(self, event: Json) -> None:
        item: Json = event["object"]
        self._version = item["metadata"]["resourceVersion"]
        if event["type"] == "DELETED":
            self.objects.pop(key_of(item), None)
            self._on_gone(item)
        elif event["type"] != "BOOKMARK":
            self._set(item)

    def _set(self, item: Json) -> None:
        before = self.objects.get(key_of(item))
        if before is not None and before["metadata"]["uid"] != item["metadata"]["uid"]:
            self._on_gone(before)
        self.objects[key_of(item)] = item
        self._on_set(item)
