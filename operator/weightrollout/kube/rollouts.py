"""The WeightRollouts of the namespace as kopf's watch and a periodic list say, and their status write.

kopf gives no sign that its first list is complete and keeps what was deleted while it re-listed after
410 Gone; the sweep here answers both. Bodies are kept whole: they are few.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any

from weightrollout.api.names import API_VERSION, FIELD_MANAGER, KIND, PLURAL
from weightrollout.kube.client import Client, Json

log = logging.getLogger(__name__)


def rollouts_path(client: Client) -> str:
    return f"/apis/{API_VERSION}/namespaces/{client.namespace}/{PLURAL}"


class Rollouts:
    """`on_restore` is called when a body went back in time, so that watches may hang in the future."""

    def __init__(self, client: Client, on_restore: Callable[[], None] = lambda: None) -> None:
        self.complete = False  # a whole list was read at least once
        self._on_restore = on_restore
        self._client = client
        self._bodies: dict[str, Json] = {}
        self._listeners: list[Callable[[str], None]] = []

    def get(self, name: str) -> Json | None:
        return self._bodies.get(name)

    def names(self) -> Iterable[str]:
        return tuple(self._bodies)

    def subscribe(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Returns the way to stop it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def learn(self, body: Json) -> None:
        """A body from a watch, a list, or the answer to our own write; an older one changes nothing."""
        name = body["metadata"]["name"]
        known = self._bodies.get(name)
        if known is not None and _uid(known) == _uid(body) and _version(known) >= _version(body):
            return
        self._bodies[name] = body
        self._tell(name)

    def forget(self, name: str, uid: str) -> None:
        """It was deleted. Another one of the same name stays."""
        known = self._bodies.get(name)
        if known is not None and _uid(known) == uid:
            del self._bodies[name]
            self._tell(name)

    async def sweep(self) -> None:
        """List all; what is unknown is learned, what is not there any more is forgotten.

        What was asked for now wins over what was known before, also where its resourceVersion is lower:
        the API server may have been restored from an older snapshot.
        """
        before = dict(self._bodies)
        listed = await self._client.get(rollouts_path(self._client))
        found = {item["metadata"]["name"]: item for item in listed["items"] or ()}
        for name, body in found.items():
            self._believe({"apiVersion": API_VERSION, "kind": KIND, **body}, before.get(name))
        for name, body in before.items():
            if name not in found:
                self.forget(name, _uid(body))
        self.complete = True

    async def reread(self, name: str) -> Json:
        """The body as the server has it now. NotFound: it is gone."""
        before = self._bodies.get(name)
        body = await self._client.get(f"{rollouts_path(self._client)}/{name}")
        self._believe(body, before)
        return body

    async def write_status(self, read: Json, status: Json) -> Json:
        """Apply the whole status on top of what was `read`. Conflict: somebody wrote since."""
        metadata = read["metadata"]
        body = {
            "apiVersion": API_VERSION,
            "kind": KIND,
            # The uid is not checked on a custom resource's status; the resourceVersion is, and no
            # recreated object has the same.
            "metadata": {"name": metadata["name"], "resourceVersion": metadata["resourceVersion"]},
            "status": status,
        }
        path = f"{rollouts_path(self._client)}/{metadata['name']}/status"
        answer = await self._client.apply(path, body, FIELD_MANAGER)
        self.learn(answer)
        return answer

    def _believe(self, body: Json, before: Json | None) -> None:
        """`body` was asked for when `before` was what we knew."""
        name = body["metadata"]["name"]
        now = self._bodies.get(name)
        if now is not before:  # somebody told us more while we asked
            if now is not None and _version(now) < _version(body):
                self.learn(body)
        elif before is None:
            self.learn(body)
        elif _uid(before) == _uid(body) and _version(before) > _version(body):
            log.warning(
                "%s went back from resourceVersion %d to %d: the API server was restored",
                name,
                _version(before),
                _version(body),
            )
            self._bodies[name] = body
            self._tell(name)
            self._on_restore()
        else:
            self.learn(body)

    def _tell(self, name: str) -> None:
        for listener in tuple(self._listeners):
            listener(name)


def _uid(body: Json) -> Any:
    return body["metadata"]["uid"]


def _version(body: Json) -> int:
    return int(body["metadata"]["resourceVersion"])
