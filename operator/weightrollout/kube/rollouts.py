"""The WeightRollouts of the namespace as kopf's watch and a periodic list say, and their status write.

kopf gives no sign that its first list is complete and keeps what was deleted while it re-listed after
410 Gone; the sweep here answers both. Bodies are kept whole: they are few.
"""

from collections.abc import Callable, Iterable
from typing import Any

from weightrollout.api.names import API_VERSION, FIELD_MANAGER, KIND, PLURAL
from weightrollout.kube.client import Client, Json


def rollouts_path(client: Client) -> str:
    return f"/apis/{API_VERSION}/namespaces/{client.namespace}/{PLURAL}"


class Rollouts:
    """`on_change(name)` is called for every change of a body, a deletion included."""

    def __init__(self, client: Client) -> None:
        self.complete = False  # a whole list was read at least once
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
        """List all; what is unknown is learned, what is not there any more is forgotten."""
        before = {name: _uid(body) for name, body in self._bodies.items()}
        listed = await self._client.get(rollouts_path(self._client))
        found = {item["metadata"]["name"]: item for item in listed["items"] or ()}
        for body in found.values():
            self.learn({"apiVersion": API_VERSION, "kind": KIND, **body})
        for name, uid in before.items():
            if name not in found:
                self.forget(name, uid)
        self.complete = True

    async def reread(self, name: str) -> Json:
        """The body as the server has it now. NotFound: it is gone."""
        body = await self._client.get(f"{rollouts_path(self._client)}/{name}")
        self.learn(body)
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

    def _tell(self, name: str) -> None:
        for listener in tuple(self._listeners):
            listener(name)


def _uid(body: Json) -> Any:
    return body["metadata"]["uid"]


def _version(body: Json) -> int:
    return int(body["metadata"]["resourceVersion"])
