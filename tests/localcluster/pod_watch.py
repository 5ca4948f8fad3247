"""Pods of a label selector, watched for as long as a block runs: what looks at each change subclasses this."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self

from localcluster.api import Api, Mirror

Json = dict[str, Any]


class PodWatch:
    """Use as an async context manager; the block begins when the first list is known."""

    def __init__(self, api: Api, namespace: str, selector: str) -> None:
        path = f"/api/v1/namespaces/{namespace}/pods"
        self._mirror = Mirror(api, path, self._look, self._gone, labelSelector=selector)
        self._watch: asyncio.Task[None] | None = None

    def _look(self, pod: Json) -> None:
        """A pod is new or has changed. Runs in the event loop and must not block."""
        raise NotImplementedError

    def _gone(self, pod: Json) -> None:
        """A pod was deleted, or lost its label; one that takes its name is looked at afterwards."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        self._watch = asyncio.create_task(self._mirror.run(), name=type(self).__name__)
        await self._mirror.synced.wait()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})
