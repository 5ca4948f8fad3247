"""A complete and current picture of one kind of object: list, then watch, as small frozen records.

Of one namespace or of all, by its client. Rules see one namespace's `Shelf` of it, never the whole.

Promise: after every list the whole picture is swapped, so an object that was deleted while nobody
watched is gone (kopf and its indexes keep such ghosts). `synced` is False until the first list is
complete. Callbacks run in the event loop, in order, and must not block.

To a watch by label an object that loses its label looks deleted. It is the same object with the same uid
when its label comes back, so "gone" is said of a uid up to a resourceVersion: later events bring it back.

A list wins over all that was known before it was asked for, whatever the resourceVersions say: those
of an API server that was restored from an older snapshot go back. For the same reason a watch is not
continued after the server was away, but begins with a list.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic

import aiohttp

from weightrollout.kube.client import Client, Json
from weightrollout.kube.errors import (
    Forbidden,
    Gone,
    KubeError,
    TooManyRequests,
    Unavailable,
    error_of,
)
from weightrollout.kube.picture import Key, R, Shelf, key_of

PAGE: Final = 500  # one unchunked list of 3,000 pods blocks the loop for a second
SERVER_S: Final = 300  # the server ends a watch then; it must be a whole number
HUNG_S: Final = 90.0  # bookmarks come each minute, so a longer silence is a dead connection
DENIED_S: Final = 30.0  # until a source that may not be read is asked for again
SHORT_S: Final = 1.0  # a watch that ends sooner was refused in disguise: back off
BACKOFF_S: Final = (0.25, 15.0)  # first, and longest
LOST: Final = (KubeError, aiohttp.ClientError, OSError, TimeoutError)
DELETED: Final = 1000  # so many uids are remembered as gone, against news that comes late
FOR_EVER: Final = 1 << 64  # above every resourceVersion: the object itself was found gone

log = logging.getLogger(__name__)


Listener = Callable[[R | None, R | None], None]


@dataclass(frozen=True, slots=True)
class Source(Generic[R]):
    """Which objects, and what is kept of each. `trim` must not keep a reference to the object."""

    name: str  # for log and metrics
    path: str
    selector: str
    trim: Callable[[Json], R]
    optional: bool = (
        False  # without the right to read it the store is complete, and `denied` says so
    )


class Store(Generic[R]):
    """Run `run` as a task; read at any time. Where it is asked by name alone, its client's namespace is meant."""

    def __init__(
        self,
        client: Client,
        source: Source[R],
        on_watch: Callable[[str], None] = lambda store: None,
        hung_s: float = HUNG_S,
    ) -> None:
        self.synced = asyncio.Event()
        self.denied = ""  # why nothing is known of an optional source; "": it is known
        self._client = client
        self._source = source
        self._on_watch = on_watch
        self._hung_s = hung_s
        self._records: dict[str, dict[str, R]] = {}  # namespace, name
        self._deleted: dict[str, int] = {}  # uid: gone at; oldest first
        self._fresh: set[Key] = set()  # heard of since the running list was asked for
        self._listeners: list[Listener[R]] = []
        self._version = ""  # where the next watch begins; "": list first
        self._restored = asyncio.Event()  # somebody found out that the server went back in time
        self._pause_s = BACKOFF_S[0]

    def within(self, namespace: str) -> Shelf[R]:
        return Shelf(self, namespace)

    def get(self, name: str) -> R | None:
        return self.within(self._client.namespace).get(name)

    def all(self) -> Iterable[R]:
        """Of every namespace that is watched."""
        return [record for shelf in self._records.values() for record in shelf.values()]

    def namespaces(self) -> Iterable[str]:
        """Those in which there is anything."""
        return tuple(self._records)

    def on_shelf(self, namespace: str) -> Mapping[str, R]:
        return self._records.get(namespace, {})

    def subscribe(self, listener: Listener[R]) -> Callable[[], None]:
        """`listener(before, after)`; None: it did not exist, or is gone; twice None: `denied` changed.
        Returns the way to stop it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def learn(self, body: Json) -> None:
        """The answer to a write of ours: newer than the watch may be for a moment."""
        self._set(self._source.trim(body))

    def drop(self, name: str, uid: str) -> None:
        """A write of ours found it gone."""
        self.within(self._client.namespace).drop(name, uid)

    def found_gone(self, key: Key, uid: str) -> None:
        self._gone(key, uid, FOR_EVER)

    def list_again(self) -> None:
        """The server was restored: our watch may wait for a version that it has yet to reach."""
        self._restored.set()

    async def run(self) -> None:
        """Never returns; cancel it. Outages are waited out for ever."""
        loop = asyncio.get_running_loop()
        while True:
            begun, asked_s = loop.time(), 0.0
            try:
                if not self._version:
                    await self._list()
                await self._watch()
            except Gone:
                log.info("watch of %s is too old, listing again", self._source.name)
                self._version = ""
            except TooManyRequests as busy:
                log.warning("watch of %s waits: %s", self._source.name, busy)
                asked_s = busy.retry_after_s
            except _Away as away:
                log.warning("watch of %s could not be opened: %s", self._source.name, away)
                self._version = ""
            except Forbidden as lacking:
                asked_s = self._deny(lacking)
            except (*LOST, ValueError, RecursionError) as lost:  # the last two: no JSON we can read
                log.warning("watch of %s starts again: %s", self._source.name, lost or repr(lost))
            if loop.time() - begun > SHORT_S:
                self._pause_s = BACKOFF_S[0]
            # Waits for no fact: it spares a server that is away.
            await asyncio.sleep(max(self._pause_s, asked_s))
            self._pause_s = min(self._pause_s * 2, BACKOFF_S[1])

    def _deny(self, lacking: Forbidden) -> float:
        """Seconds until it is tried again: nobody is given a right within moments."""
        if not self._source.optional:
            log.warning("watch of %s starts again: %s", self._source.name, lacking)
            return 0.0
        self._version = ""  # what is known gets old
        if not self.denied:
            log.warning("%s cannot be read: %s", self._source.name, lacking)
        self._access(str(lacking))
        return DENIED_S

    def _access(self, denied: str) -> None:
        changed, self.denied = self.denied != denied, denied
        self.synced.set()
        if changed:
            self._tell(None, None)

    async def _list(self) -> None:
        found: dict[Key, R] = {}
        query = {"labelSelector": self._source.selector, "limit": str(PAGE)}
        self._fresh.clear()
        self._restored.clear()
        while True:
            page = await self._client.get(self._source.path, query)
            for item in page["items"] or ():
                record = self._source.trim(item)
                found[key_of(record)] = record
            more = page["metadata"].get("continue")
            if not more:
                break
            query = {**query, "continue": more}
        self._swap(found, int(page["metadata"]["resourceVersion"]))
        self._version = page["metadata"]["resourceVersion"]
        self._access("")

    def _swap(self, found: Mapping[Key, R], listed_at: int) -> None:
        """What we wrote while the list was under way may be newer than the list; nothing else is."""
        for known in self.all():
            key = key_of(known)
            late = key in self._fresh
            if key not in found and not (late and known.resource_version > listed_at):
                self._remove(key, listed_at)
        for key, record in found.items():
            if key in self._fresh:
                self._set(record)
            else:
                self._deleted.pop(record.uid, None)  # a restored server has it again
                self._replace(record)

    async def _watch(self) -> None:
        query = {
            "labelSelector": self._source.selector,
            "watch": "true",
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(SERVER_S),
        }
        self._on_watch(self._source.name)
        opened = False
        try:
            async with self._client.stream(self._source.path, query, SERVER_S + 30.0) as lines:
                opened = True
                while line := await self._next(lines):
                    self._take(line)
        except (Unavailable, TimeoutError) as lost:
            if opened:
                raise
            raise _Away(str(lost) or repr(lost)) from lost

    async def _next(self, lines: aiohttp.StreamReader) -> bytes:
        """The next line. Raises TimeoutError, and Gone where `list_again` was called."""
        reading = asyncio.ensure_future(lines.readline())
        restored = asyncio.ensure_future(self._restored.wait())
        try:
            await asyncio.wait(
                {reading, restored}, timeout=self._hung_s, return_when=asyncio.FIRST_COMPLETED
            )
            if restored.done():
                raise Gone("the server was restored")
            if not reading.done():
                raise TimeoutError(f"no bookmark for {self._hung_s:g} s")
            return reading.result()
        finally:
            reading.cancel()
            restored.cancel()

    def _take(self, line: bytes) -> None:
        try:
            event: Mapping[str, Any] = json.loads(line)
            kind, item = event["type"], event["object"]
            if kind != "ERROR":
                version = str(int(item["metadata"]["resourceVersion"]))
        except (ValueError, KeyError, TypeError) as cut:
            raise ValueError(f"a line that is no watch event: {line[:200]!r}") from cut
        if kind == "ERROR":
            said = json.dumps(item).encode()
            raise error_of(f"WATCH {self._source.path}", int(item.get("code", 500)), said)
        if int(version) >= int(self._version):
            self._version = version
        elif kind == "BOOKMARK":
            raise Gone(f"the server is at {version}, we were at {self._version}: it was restored")
        match kind:
            case "BOOKMARK":
                self._pause_s = BACKOFF_S[0]
            case "DELETED":
                metadata = item["metadata"]
                key = Key(metadata["namespace"], metadata["name"])
                self._gone(key, metadata["uid"], int(version))
            case _:
                record = self._source.trim(item)
                if record.resource_version > self._deleted.get(record.uid, FOR_EVER):
                    del self._deleted[record.uid]  # its label came back
                self._set(record)

    def _set(self, record: R) -> None:
        if record.uid in self._deleted:
            return  # the answer to a write of ours, overtaken by the deletion
        before = self._known(key_of(record))
        same = before if before is not None and before.uid == record.uid else None
        if same is not None and same.resource_version >= record.resource_version:
            return  # what we learned from our own write is newer than this event
        self._fresh.add(key_of(record))
        self._replace(record)

    def _replace(self, record: R) -> None:
        before = self._known(key_of(record))
        if before == record:
            return
        if before is not None and before.uid != record.uid:
            self._remove(key_of(record), FOR_EVER)  # recreated under the same name: another object
            before = None
        self._records.setdefault(record.namespace, {})[record.name] = record
        self._tell(before, record)

    def _known(self, key: Key) -> R | None:
        return self.on_shelf(key.namespace).get(key.name)

    def _gone(self, key: Key, uid: str, at: int) -> None:
        record = self._known(key)
        if record is not None and record.uid == uid:
            self._remove(key, at)

    def _remove(self, key: Key, at: int) -> None:
        shelf = self._records[key.namespace]
        gone = shelf.pop(key.name)
        if not shelf:
            del self._records[key.namespace]
        self._deleted[gone.uid] = at
        if len(self._deleted) > DELETED:
            del self._deleted[next(iter(self._deleted))]
        self._tell(gone, None)

    def _tell(self, before: R | None, after: R | None) -> None:
        for listener in tuple(self._listeners):
            listener(before, after)


class _Away(Exception):
    """A watch could not even be opened: whatever the server was, it may be another one now."""
