"""A small API server over real HTTP for unit tests: objects in memory, list, watch, and faults on demand.

It knows what our client relies on and no more: resourceVersions that grow, 409 on an old one, uid on pods,
pages, watch events and bookmarks. The cluster tier runs the same rooms against the real one.
"""

from __future__ import annotations

import asyncio
import copy
import json
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from weightrollout.kube.client import Client, connect

Json = dict[str, Any]
Fault = Callable[[web.Request], web.StreamResponse | None]


class ApiFront:
    """Objects by path; `fault`, when set, may answer in place of the server."""

    def __init__(self) -> None:
        self.objects: dict[str, Json] = {}
        self.requests: list[tuple[str, str]] = []
        self.fault: Fault | None = None
        self.issue: Callable[[str, str], str] | None = None  # TokenRequest: account, audience
        self.url = ""
        self.version = 100
        self._streams: dict[str, set[asyncio.Queue[Json | bytes | None]]] = {}

    def put(self, collection: str, body: Json) -> Json:
        """Create or replace without any check, as somebody else would."""
        path = f"{collection}/{body['metadata']['name']}"
        known = self.objects.get(path)
        stored = copy.deepcopy(body)
        if known is not None:
            stored["metadata"].setdefault("uid", known["metadata"]["uid"])
        return self._store(path, stored, "MODIFIED" if known else "ADDED")

    def remove(self, path: str, silently: bool = False) -> None:
        """`silently`: as if it happened while nobody watched."""
        gone = self.objects.pop(path)
        self.version += 1
        gone["metadata"]["resourceVersion"] = str(self.version)
        if not silently:
            self._send(path, "DELETED", gone)

    def send(self, collection: str, event: Json) -> None:
        for stream in self._streams.get(collection, ()):
            stream.put_nowait(event)

    def send_line(self, collection: str, line: bytes) -> None:
        """What no API server sends, but what may stand between us and one does."""
        for stream in self._streams.get(collection, ()):
            stream.put_nowait(line)

    def restore(self, objects: dict[str, Json], version: int) -> None:
        """Go back in time; the objects are stored again, so that a clock of ours starts there."""
        self.objects = {}
        self.version = version
        for path, body in objects.items():
            self._store(path, body, "ADDED")

    def cut(self, collection: str) -> None:
        """End all watches of a collection."""
        for stream in self._streams.get(collection, ()):
            stream.put_nowait(None)

    def watchers(self, collection: str) -> int:
        return len(self._streams.get(collection, ()))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        watching = "watch" in request.query
        self.requests.append(("WATCH" if watching else request.method, request.path))
        if self.fault is not None and (answer := self.fault(request)) is not None:
            return answer
        match request.method:
            case "GET":
                return await self._watch(request) if watching else self._get(request)
            case "POST" if request.path.endswith("/token"):
                return self._token(request.path, await request.json())
            case "POST":
                return self._create(request.path, await request.json())
            case "PUT" | "PATCH":
                return self._change(request, json.loads(await request.text()))
            case _:
                return self._delete(request.path, json.loads(await request.text() or "{}"))

    def _get(self, request: web.Request) -> web.Response:
        if request.path in self.objects:
            return web.json_response(self.objects[request.path])
        if request.path.rsplit("/", 2)[-2] in ("weightrollouts", "leases") or _is_name(
            request.path
        ):
            return refusal(404, "NotFound")
        items = [
            body
            for path, body in sorted(self.objects.items())
            if path.rsplit("/", 1)[0] == request.path and _selected(body, request)
        ]
        start, limit = int(request.query.get("continue", 0)), int(request.query.get("limit", 500))
        metadata: Json = {"resourceVersion": str(self.version)}
        if start + limit < len(items):
            metadata["continue"] = str(start + limit)
        return web.json_response({"metadata": metadata, "items": items[start : start + limit]})

    def _create(self, collection: str, body: Json) -> web.Response:
        path = f"{collection}/{body['metadata']['name']}"
        if path in self.objects:
            return refusal(409, "AlreadyExists")
        return web.json_response(self._store(path, body, "ADDED"), status=201)

    def _token(self, path: str, body: Json) -> web.Response:
        if self.issue is None:
            return refusal(403, "Forbidden")
        [audience] = body["spec"]["audiences"]
        token = self.issue(path.split("/")[-2], audience)
        return web.json_response({"status": {"token": token}}, status=201)

    def _change(self, request: web.Request, body: Json) -> web.Response:
        path = request.path.removesuffix("/status")
        apply = "apply" in request.headers["Content-Type"]
        known = self.objects.get(path)
        if known is None and not (apply and path == request.path):
            return refusal(404, "NotFound")
        known = known or {"metadata": {}}
        sent, has = body.get("metadata", {}), known["metadata"]
        if sent.get("resourceVersion", has.get("resourceVersion")) != has.get("resourceVersion"):
            return refusal(409, "Conflict")
        if "pods" in path and sent.get("uid", has["uid"]) != has["uid"]:
            return refusal(422, "Invalid")
        whole = request.method == "PUT" or (apply and path == request.path)  # one owner of all
        changed = copy.deepcopy(body) if whole else _merged(known, body)
        changed["metadata"] |= {key: has[key] for key in ("uid", "resourceVersion") if key in has}
        if path != request.path:
            changed["status"] = body.get("status", {})
        if changed == known:
            return web.json_response(known)
        return web.json_response(self._store(path, changed, "MODIFIED"))

    def _delete(self, path: str, options: Json) -> web.Response:
        known = self.objects.get(path)
        if known is None:
            return refusal(404, "NotFound")
        wanted = options.get("preconditions") or {}
        if any(known["metadata"][key] != value for key, value in wanted.items()):
            return refusal(409, "Conflict")
        self.remove(path)
        return web.json_response({"kind": "Status"})

    def _store(self, path: str, body: Json, event: str) -> Json:
        self.version += 1
        stored = copy.deepcopy(body)
        if "/namespaces/" in path:
            namespace = path.partition("/namespaces/")[2].split("/")[0]
            stored["metadata"].setdefault("namespace", namespace)
        metadata = stored["metadata"]
        metadata["uid"] = metadata.get("uid") or str(uuid.uuid4())
        metadata["resourceVersion"] = str(self.version)
        self.objects[path] = stored
        self._send(path, event, stored)
        return stored

    def _send(self, path: str, event: str, body: Json) -> None:
        self.send(path.rsplit("/", 1)[0], {"type": event, "object": copy.deepcopy(body)})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        queue: asyncio.Queue[Json | bytes | None] = asyncio.Queue()
        streams = self._streams.setdefault(request.path, set())
        streams.add(queue)
        try:
            while (event := await queue.get()) is not None:
                line = event if isinstance(event, bytes) else json.dumps(event).encode()
                await answer.write(line + b"\n")
        finally:
            streams.discard(queue)
        return answer


def refusal(code: int, reason: str, **headers: str) -> web.Response:
    body = {"kind": "Status", "code": code, "reason": reason, "message": reason}
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return web.json_response(body, status=code, headers=named)


@asynccontextmanager
async def api_front(folder: Path) -> AsyncIterator[tuple[ApiFront, Client]]:
    """A server and our client, connected through a kubeconfig as in a cluster."""
    front = ApiFront()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", front.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    front.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    kubeconfig = folder / "kubeconfig"
    context = {"cluster": "c", "user": "u"}
    kubeconfig.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "x",
                "contexts": [{"name": "x", "context": context}],
                "clusters": [{"name": "c", "cluster": {"server": front.url}}],
                "users": [{"name": "u", "user": {}}],
            }
        )
    )
    try:
        async with connect("ns", kubeconfig) as client:
            yield front, client
    finally:
        await runner.cleanup()


def _is_name(path: str) -> bool:
    return path.rstrip("/").split("/")[-2] not in ("v1", "v1alpha1", "ns", "namespaces")


def _selected(body: Json, request: web.Request) -> bool:
    wanted = request.query.get("fieldSelector", "").removeprefix("metadata.name=")
    return not wanted or body["metadata"]["name"] == wanted


def _merged(known: Json, change: Json) -> Json:
    merged = copy.deepcopy(known)
    for key, value in change.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            merged[key] = _merged(merged.get(key) or {}, value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged
