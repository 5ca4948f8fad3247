"""A keyed work queue: one pass per key at a time, wakes that come together become one.

A wake during a pass leads to one more pass. After a pass the key rests as long as the pass took, so that
a storm of wakes uses at most half of the event loop; a single wake after a quiet time waits for nothing.
After a pass that failed wakes wait as well, for a second at most: what the pass began wakes it when it ends,
and a pass whose write is refused every time would otherwise be repeated as fast as the server refuses.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

from weightrollout.clock import Clock

REST_S: Final = 0.25  # longest rest
RETRY_S: Final = (0.1, 30.0)  # after an error: first, and longest
DEAF_S: Final = 1.0  # after an error: so long at most no wake shortens the retry

log = logging.getLogger(__name__)

K = TypeVar("K", bound=Hashable)
Pass = Callable[[K], Awaitable[float | None]]
"""Does one pass for a key; returns when time alone asks for the next one (`Clock.monotonic`)."""


class WorkQueue(Generic[K]):
    """`on_error(key, error)` is told of a pass that raised; it is repeated with back-off."""

    def __init__(
        self, run_pass: Pass[K], clock: Clock, on_error: Callable[[K, Exception], None]
    ) -> None:
        self._run_pass = run_pass
        self._clock = clock
        self._on_error = on_error
        self._woken: dict[K, asyncio.Event] = {}
        self._tasks: dict[K, asyncio.Task[None]] = {}
        self._running: set[K] = set()
        self._left: set[K] = set()  # forgotten while their pass runs
        self._closed = False

    @property
    def depth(self) -> int:
        return sum(woken.is_set() for woken in self._woken.values())

    def wake(self, key: K) -> None:
        if self._closed:
            return
        if key not in self._tasks:
            self._woken[key] = asyncio.Event()
            self._tasks[key] = asyncio.create_task(self._serve(key), name=f"pass {key}")
        self._woken[key].set()

    def forget(self, key: K) -> None:
        """No pass any more until the next wake. One that runs, such as the caller's own, ends first:
        a wake meanwhile must not begin another beside it."""
        if key in self._running:
            self._left.add(key)
        elif key in self._tasks:
            self._tasks.pop(key).cancel()
            del self._woken[key]

    async def close(self) -> None:
        """Cancel all passes and wait until they have ended."""
        self._closed = True
        tasks = [task for task in self._tasks.values() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()
        self._woken.clear()

    async def _serve(self, key: K) -> None:
        woken = self._woken[key]
        retry_s = RETRY_S[0]
        while True:
            await woken.wait()
            woken.clear()
            begun, deaf_s = self._clock.monotonic(), 0.0
            self._running.add(key)
            try:
                wake_at = await self._run_pass(key)
                retry_s = RETRY_S[0]
            except Exception as error:
                self._on_error(key, error)
                wake_at = self._clock.monotonic() + retry_s
                deaf_s = min(retry_s, DEAF_S)
                retry_s = min(retry_s * 2, RETRY_S[1])
            finally:
                self._running.discard(key)
            if key in self._left:
                self._left.discard(key)
                if not woken.is_set():
                    del self._tasks[key], self._woken[key]
                    return
                wake_at, deaf_s = None, 0.0
            took_s = self._clock.monotonic() - begun
            timer = self._alarm(woken, wake_at)
            try:
                await asyncio.sleep(max(min(took_s, REST_S), deaf_s))
                await woken.wait()
            finally:
                if timer is not None:
                    timer.cancel()

    def _alarm(self, woken: asyncio.Event, wake_at: float | None) -> asyncio.TimerHandle | None:
        if wake_at is None:
            return None
        left_s = max(0.0, wake_at - self._clock.monotonic())
        return asyncio.get_running_loop().call_later(left_s, woken.set)
