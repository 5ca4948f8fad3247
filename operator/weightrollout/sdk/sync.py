"""The same for code without an event loop: one thread has the loop, every call waits for its end."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from weightrollout.sdk import fleet as aio
from weightrollout.sdk.endpoints import Endpoint
from weightrollout.sdk.fleet import Progress, Published
from weightrollout.sdk.state import FleetState
from weightrollout.sdk.storage import Storage

T = TypeVar("T")


class Fleet:
    """As `weightrollout.sdk.Fleet`, word for word. `progress` is called in the loop's thread."""

    def __init__(self, fleet: aio.Fleet, loop: asyncio.AbstractEventLoop) -> None:
        self._fleet = fleet
        self._loop = loop

    @property
    def name(self) -> str:
        return self._fleet.name

    @property
    def run(self) -> str:
        return self._fleet.run

    def state(self) -> FleetState:
        return self._end(self._fleet.state())

    def publish(
        self,
        step: int,
        uri: str = "",
        *,
        digest: str = "",
        tensors: Mapping[str, Any] | None = None,
        storage: Storage | None = None,
        force: bool = False,
    ) -> Published:
        return self._end(
            self._fleet.publish(
                step, uri, digest=digest, tensors=tensors, storage=storage, force=force
            )
        )

    def wait(
        self,
        step: int,
        *,
        pods: int | str = "100%",
        timeout_s: float,
        progress: Progress | None = None,
    ) -> FleetState:
        return self._end(self._fleet.wait(step, pods=pods, timeout_s=timeout_s, progress=progress))

    def wait_reported(
        self,
        version: str,
        *,
        pods: int | str = "100%",
        timeout_s: float,
        progress: Progress | None = None,
    ) -> FleetState:
        return self._end(
            self._fleet.wait_reported(version, pods=pods, timeout_s=timeout_s, progress=progress)
        )

    def endpoints(self, min_step: int | None = None, *, port: int = 8000) -> list[Endpoint]:
        return self._end(self._fleet.endpoints(min_step, port=port))

    def rollback(self, *, timeout_s: float = aio.ANSWER_S) -> FleetState:
        return self._end(self._fleet.rollback(timeout_s=timeout_s))

    def _end(self, call: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(call, self._loop)
        try:
            return future.result()
        except BaseException:  # Ctrl-C in this thread must end the call in the other one
            future.cancel()
            raise


@contextmanager
def connect(
    name: str,
    *,
    run: str,
    namespace: str | None = None,
    kubeconfig: Path | None = None,
    context: str | None = None,
) -> Iterator[Fleet]:
    """Raises what `weightrollout.sdk.connect` raises."""
    opened: Future[tuple[aio.Fleet, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        left = asyncio.Event()
        try:
            async with aio.connect(
                name, run=run, namespace=namespace, kubeconfig=kubeconfig, context=context
            ) as fleet:
                opened.set_result((fleet, asyncio.get_running_loop(), left))
                await left.wait()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)

    thread = threading.Thread(
        target=lambda: asyncio.run(serve()), name="weightrollout-sdk", daemon=True
    )
    thread.start()
    try:
        fleet, loop, left = opened.result()
    except BaseException:
        thread.join()
        raise
    try:
        yield Fleet(fleet, loop)
    finally:
        loop.call_soon_threadsafe(left.set)
        thread.join()
