"""What each call does to the engine once the guard let it through."""

import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from weightrollout.agent.rl.failed import Failed
from weightrollout.agent.rl.guard import not_paused
from weightrollout.agent.rl.images import Images
from weightrollout.agent.rl.notes import Notes
from weightrollout.agent.rl.routes import Call
from weightrollout.agent.rl.wishes import Checkpoint, Wish
from weightrollout.api.guard import Guard
from weightrollout.engine.errors import (
    LABEL_NOT_SET,
    EngineError,
    EngineRefused,
    EngineStateUnknown,
)
from weightrollout.engine.protocol import Lifecycle, PauseWay
from weightrollout.swap.hold import DRAFT, TARGET, Hold

#: Trainers wait for each other within a call, and end it themselves: this only frees what was forgotten.
CALL_S: Final = 3600.0
#: Requests that run get so long to end, where a pause is to wait for them. Below the patience of clients
#: (300 s in vLLM's and TRL's), because the engine lets no other call through meanwhile.
DRAIN_S: Final = 120.0
#: Answers that the engine has ready.
READ_S: Final = 1.0
#: Waits for the engine's step, of whatever length.
RESUME_S: Final = 10.0
MEMORY: Final = ("kv_cache", "weights")
#: Weights that no trainer named.
OWN_NAME: Final = re.compile(r"trainer\.(\d{1,9})")

#: Reason of a call that was not answered in time.
LATE: Final = "DeadlineExceeded"

log = logging.getLogger(__name__)


class Calls:
    def __init__(
        self,
        engine: Lifecycle,
        notes: Notes,
        images: Images,
        guard: Callable[[], Guard],
        drain_s: float,
    ) -> None:
        self._engine = engine
        self._notes = notes
        self._images = images
        self._guard = guard
        self._drain_s = drain_s

    async def do(self, wish: Wish, hold: Hold, *, paused: bool) -> dict[str, Any]:
        engine = self._engine
        match wish.call:
            case Call.PAUSE:
                await self._pause(hold, wish.way, wish.clear_cache)
                return {"status": "paused"}
            case Call.RESUME:
                await self._resume(hold, paused=paused)
                return {"status": "resumed"}
            case Call.SLEEP:
                return await self._sleep(wish, hold)
            case Call.WAKE_UP:
                return await self._wake_up(wish, hold)
            case Call.INIT:
                await self._init(wish, hold)
                return {"message": "Weight transfer initialized"}
            case Call.START:
                await self._start(wish.call, hold, TARGET, paused=paused)
                return {"message": "Weight update started"}
            case Call.START_DRAFT:
                await self._start(wish.call, hold, DRAFT, paused=paused)
                return {"message": "Draft weight update started"}
            case Call.UPDATE:
                await self._update(wish, hold)
                return {"message": "Weights updated"}
            case Call.FINISH:
                await self._finish(wish, hold)
                return {"message": "Weight update finished"}
            case Call.RESET_CACHE:
                emptied = await engine.reset_prefix_cache(
                    running=wish.running, external=wish.external, deadline_s=CALL_S
                )
                return {"success": emptied}
            case _:
                assert wish.version is not None
                await self._name(hold, wish.version)
                return {"success": True, "new_version": wish.version}

    async def _pause(
        self, hold: Hold, way: PauseWay, clear_cache: bool | None, *, by_agent: bool = False
    ) -> Hold:
        held = replace(hold, paused=True, by_agent=by_agent, draining=False)
        if way is PauseWay.WAIT:
            await self._wait(hold, replace(held, draining=True), clear_cache)
            await self._notes.keep(held)
            return held
        async with self._notes.calling(Call.PAUSE, held):
            await self._engine.pause_as(way, clear_cache=clear_cache, deadline_s=CALL_S)
        return held

    async def _wait(self, hold: Hold, held: Hold, clear_cache: bool | None) -> None:
        """Until the running requests have ended; new ones the engine does not start. Taken back when it takes too long:
        the engine calls itself paused from the begin, so nothing else would tell that requests run."""
        engine = self._engine
        try:
            async with self._notes.calling(Call.PAUSE, held):
                await engine.pause_as(
                    PauseWay.WAIT, clear_cache=clear_cache, deadline_s=self._drain_s
                )
        except EngineStateUnknown as error:
            if error.reason != LATE or hold.paused or hold.session or hold.hides_weights:
                raise  # there is no running engine to go back to
            async with self._notes.calling(Call.RESUME, held):
                await engine.resume(deadline_s=RESUME_S)
            await self._notes.keep(hold)
            raise Failed(
                504,
                "not_drained",
                f"requests still ran after {self._drain_s:g} s: nothing is paused; by keep it waits for none",
            ) from error

    async def _resume(self, hold: Hold, *, paused: bool) -> None:
        """Resuming twice is no error, and is not sent twice."""
        hold = await self._named(hold)
        if paused:
            async with self._notes.calling(Call.RESUME, hold):
                await self._engine.resume(deadline_s=RESUME_S)
        await self._notes.keep(replace(hold, paused=False, by_agent=False, draining=False))

    async def _named(self, hold: Hold) -> Hold:
        """No request is answered by weights that nobody can name: where the trainer did not, we do."""
        if not hold.unnamed:
            return hold
        known = OWN_NAME.fullmatch(self._notes.serving)
        await self._name(hold, f"trainer.{int(known[1]) + 1 if known else 1}")
        return replace(hold, unnamed=False)

    async def _sleep(self, wish: Wish, hold: Hold) -> dict[str, Any]:
        """Level 0 is a pause; level 2 throws the weights away."""
        lost = tuple(sorted({*hold.incomplete, TARGET})) if wish.level > 1 else hold.incomplete
        asleep = MEMORY if wish.level > 0 else hold.asleep
        if wish.way is PauseWay.WAIT:
            hold = await self._pause(hold, wish.way, None if wish.level else False)
        held = replace(
            hold, paused=True, by_agent=False, asleep=asleep, incomplete=lost, draining=False
        )
        async with self._notes.calling(wish.call, held):
            await self._engine.sleep(wish.level, wish.way, deadline_s=CALL_S)
        return {"status": "sleeping"}

    async def _wake_up(self, wish: Wish, hold: Hold) -> dict[str, Any]:
        engine = self._engine
        left = tuple(tag for tag in hold.asleep if wish.tags and tag not in wish.tags)
        if not left:
            hold = await self._named(hold)  # it resumes by itself
        async with self._notes.calling(wish.call, hold):
            # A tag that is awake already and the engine would wake nothing, without an error.
            tags = tuple(tag for tag in wish.tags if tag in hold.asleep) or wish.tags
            await engine.wake_up(tags, deadline_s=CALL_S)
            sleeps = await engine.is_sleeping(deadline_s=READ_S)
            if sleeps and not wish.tags:
                # Nor does it wake the rest when it is asked for all.
                for tag in hold.asleep:
                    await engine.wake_up((tag,), deadline_s=CALL_S)
                sleeps = await engine.is_sleeping(deadline_s=READ_S)
        if sleeps and wish.tags:
            await self._notes.keep(replace(hold, asleep=left))
            return {"status": "partially_awake", "is_sleeping": True}
        if sleeps:
            raise Failed(502, "StillAsleep", "the engine answered, and sleeps on: wake_up by tags")
        await self._notes.keep(
            replace(hold, paused=False, by_agent=False, asleep=(), draining=False)
        )
        return {"status": "awake"}

    async def _init(self, wish: Wish, hold: Hold) -> None:
        if self._images.are_taken and wish.checkpoint is None:
            return  # there is nobody to join
        async with self._notes.calling(wish.call, hold):
            if wish.checkpoint is not None:
                await self._images.ready(self._engine, wish.checkpoint)
            else:
                await self._engine.init_transfer(wish.payload, deadline_s=CALL_S)

    async def _start(self, call: Call, hold: Hold, session: str, *, paused: bool) -> None:
        engine, guard = self._engine, self._guard()
        if paused and not hold.paused:
            hold = replace(hold, paused=True)  # somebody else's pause, which this now relies on
        if self._images.are_taken:  # the engine's own Start comes when the weights are ready
            opened = replace(hold, session=session, updates=0, in_service=not hold.paused)
            return await self._notes.begin(opened)
        if not paused and guard is Guard.AUTO_PAUSE:
            hold = await self._pause(hold, PauseWay.KEEP, True, by_agent=True)
        held = replace(
            hold, session=session, updates=0, in_service=not hold.paused and guard is Guard.OFF
        )
        try:
            async with self._notes.calling(call, held):
                if hold.incomplete:  # the session that failed may still be open
                    await _ignored(engine.finish_update(None, deadline_s=CALL_S))
                if session == DRAFT:
                    await engine.start_draft_update(deadline_s=CALL_S)
                else:
                    await engine.start_update(deadline_s=CALL_S)
        except EngineRefused:
            if hold.by_agent and not paused:
                await self._resume(hold, paused=True)
            raise

    async def _update(self, wish: Wish, hold: Hold) -> None:
        if wish.checkpoint is not None:
            return await self._load(wish, wish.checkpoint, hold)
        async with self._notes.calling(wish.call, hold):
            await self._engine.update(wish.payload, deadline_s=CALL_S)
        return await self._notes.keep(replace(hold, updates=hold.updates + 1))

    async def _load(self, wish: Wish, checkpoint: Checkpoint, hold: Hold) -> None:
        """Minutes of staging first, in which nothing changes; then the engine is asked again whether it is paused."""
        engine, guard = self._engine, self._guard()
        loading = await self._images.ready(engine, checkpoint, hold.session)
        if await engine.is_paused(deadline_s=RESUME_S):
            hold = replace(hold, paused=True)
        elif guard is Guard.STRICT:
            against = not_paused(wish.call)
            raise Failed(409, against.code, against.message)
        elif guard is Guard.AUTO_PAUSE:
            hold = await self._pause(hold, PauseWay.KEEP, True, by_agent=True)
        hold = replace(hold, in_service=not hold.paused)
        async with self._notes.calling(wish.call, hold):
            if hold.updates or hold.incomplete:  # the engine's own session may be open
                await _ignored(engine.finish_update(None, deadline_s=CALL_S))
            await self._images.load(engine, loading, hold.session)
        await self._notes.keep(replace(hold, updates=hold.updates + 1))

    async def _finish(self, wish: Wish, hold: Hold) -> None:
        """A session that took nothing makes nothing whole."""
        if self._images.are_taken and not hold.updates:
            return await self._close(wish, hold)
        unlabelled: EngineStateUnknown | None = None
        async with self._notes.calling(wish.call, hold):
            try:
                await self._engine.finish_update(wish.version, deadline_s=CALL_S)
            except EngineStateUnknown as error:
                if error.reason != LABEL_NOT_SET:
                    raise
                unlabelled = error  # the weights are final, and only the label is not
        whole = tuple(each for each in hold.incomplete if not hold.updates or each != hold.session)
        changed = hold.session == TARGET and hold.updates > 0
        hold = replace(
            hold, session="", incomplete=whole, updates=0, unnamed=hold.unnamed or changed
        )
        if unlabelled is None and wish.version is not None and not whole:
            hold = replace(hold, unnamed=False)
            await self._notes.keep(hold, version=wish.version)
        else:
            await self._notes.keep(hold)
        if unlabelled is not None:
            raise unlabelled
        if whole:
            return None
        if hold.by_agent:
            await self._resume(hold, paused=True)
        elif not hold.paused:  # the guard is off
            await self._named(hold)
        return None

    async def _close(self, wish: Wish, hold: Hold) -> None:
        """Of what was opened in the agent alone."""
        hold = replace(hold, session="", in_service=False)
        await self._notes.keep(hold)
        if wish.version is not None:
            await self._name(hold, wish.version)
            hold = replace(hold, unnamed=hold.unnamed and bool(hold.incomplete))
        if hold.by_agent and not hold.incomplete:
            await self._resume(hold, paused=True)

    async def _name(self, hold: Hold, version: str) -> None:
        """A label is no proof: it names only weights that are known to be whole."""
        async with self._notes.calling(Call.SET_VERSION, hold):
            await self._engine.set_version(version, deadline_s=CALL_S)
        if hold.session or hold.incomplete:
            return
        await self._notes.keep(replace(hold, unnamed=False), version=version)


async def _ignored(call: Awaitable[None]) -> None:
    try:
        await call
    except EngineError as error:
        log.info("finish, to close what may be open: %s", error)
