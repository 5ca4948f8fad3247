"""The WeightRollouts of one namespace or of all as kopf's watch and a periodic list say, and their status write.

kopf gives no sign that its first list is complete and keeps what was deleted while it re-listed after
410 Gone; the sweep here answers both. Bodies are kept whole: they are few.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any

from weightrollout.api.names import API_VERSION, FIELD_MANAGER, KIND, PLURAL
from weightrollout.kube.client import Client, Json
from weightrollout.kube.picture import Key

log = logging.getLogger(__name__)


def rollouts_path(client: Client) -> str:
    return client.collection(f"/apis/{API_VERSION}", PLURAL)


class Rollouts:
    """`on_restore` is called when a body went back in time, so that watches may hang in the future."""

    def __init__(self, client: Client, on_restore: Callable[[], None] = lambda: None) -> None:
        self.complete = False  # a whole list was read at least once
        self._on_restore = on_restore
        self._client = client
        self._bodies: dict[Key, Json] = {}
        self._listeners: list[Callable[[Key], None]] = []

    def within(self, namespace: str) -> "RolloutsOf":
        return RolloutsOf(self, namespace)

    def get(self, key: Key) -> Json | None:
        return self._bodies.get(key)

    def known(self) -> Iterable[Key]:
        return tuple(self._bodies)

    def subscribe(self, listener: Callable[[Key], None]) -> Callable[[], None]:
        """Returns the way to stop it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def learn(self, body: Json) -> None:
        """A body from a watch, a list, or the answer to our own write; an older one changes nothing,
        late news of an object whose name another one has by now included."""
        key = key_of_body(body)
        known = self._bodies.get(key)
        if known is None or _version(known) < _version(body):
            self._bodies[key] = body
            self._tell(key)

    def forget(self, key: Key, uid: str) -> None:
        """It was deleted. Another one of the same name stays."""
        known = self._bodies.get(key)
        if known is not None and _uid(known) == uid:
            del self._bodies[key]
            self._tell(key)

    async def sweep(self) -> None:
        """List all; what is unknown is learned, what is not there any more is forgotten.

        What was asked for now wins over what was known before, also where its resourceVersion is lower:
        the API server may have been restored from an older snapshot.
        """
        before = dict(self._bodies)
        listed = await self._client.get(rollouts_path(self._client))
        found = {key_of_body(item): item for item in listed["items"] or ()}
        for key, body in found.items():
            self._believe({"apiVersion": API_VERSION, "kind": KIND, **body}, before.get(key))
        for key, body in before.items():
            if key not in found:
                self.forget(key, _uid(body))
        self.complete = True

    async def reread(self, key: Key) -> Json:
        """The body as the server has it now. NotFound: it is gone."""
        before = self._bodies.get(key)
        body = await self._client.get(f"{self._path(key.namespace)}/{key.name}")
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
        path = f"{self._path(metadata['namespace'])}/{metadata['name']}/status"
        answer = await self._client.apply(path, body, FIELD_MANAGER)
        self.learn(answer)
        return answer

    def _believe(self, body: Json, before: Json | None) -> None:
        """`body` was asked for when `before` was what we knew."""
        key = key_of_body(body)
        now = self._bodies.get(key)
        if now is not before:  # somebody told us more while we asked
            if now is not None and _version(now) < _version(body):
                self.learn(body)
        elif before is None:
            self.learn(body)
        elif _uid(before) == _uid(body) and _version(before) > _version(body):
            log.warning(
                "%s went back from resourceVersion %d to %d: the API server was restored",
                key,
                _version(before),
                _version(body),
            )
            self._bodies[key] = body
            self._tell(key)
            self._on_restore()
        elif _uid(before) != _uid(body):
            self._bodies[key] = body  # whatever its version: a restored server counts anew
            self._tell(key)
        else:
            self.learn(body)

    def _tell(self, key: Key) -> None:
        for listener in tuple(self._listeners):
            listener(key)

    def _path(self, namespace: str) -> str:
        return rollouts_path(self._client.within(namespace))


class RolloutsOf:
    """Those of one namespace, by name."""

    def __init__(self, whole: Rollouts, namespace: str) -> None:
        self._whole = whole
        self._namespace = namespace

    def get(self, name: str) -> Json | None:
        return self._whole.get(Key(self._namespace, name))

    def names(self) -> Iterable[str]:
        return tuple(key.name for key in self._whole.known() if key.namespace == self._namespace)

    def forget(self, name: str, uid: str) -> None:
        self._whole.forget(Key(self._namespace, name), uid)

    async def reread(self, name: str) -> Json:
        """The body as the server has it now. NotFound: it is gone."""
        return await self._whole.reread(Key(self._namespace, name))

    async def write_status(self, read: Json, status: Json) -> Json:
        """Apply the whole status on top of what was `read`. Conflict: somebody wrote since."""
        return await self._whole.write_status(read, status)


def key_of_body(body: Json) -> Key:
    return Key(body["metadata"]["namespace"], body["metadata"]["name"])


def _uid(body: Json) -> Any:
    return body["metadata"]["uid"]


def _version(body: Json) -> int:
    return int(body["metadata"]["resourceVersion"])
