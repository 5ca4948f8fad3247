"""`Driven` over the RL routes of vLLM's Python frontend, which needs VLLM_SERVER_DEV_MODE=1.

These routes check less than vllm.Control does, so that is done here: a blank version, a payload that is no
object, transfer or sleep where the engine was started without it (a wake-up would end a mere pause). What
the frontend does not tell, such as whether a draft can be updated, is not offered. Nor do they have a mutex, or a way
to end the engine. vLLM 0.32: entrypoints/rl/online, entrypoints/serve/dev.
"""

import asyncio
import json
from pathlib import Path
from typing import Any, Final

from weightrollout.api.spec import PauseMode
from weightrollout.engine.errors import (
    CONNECTION_CUT,
    LABEL_NOT_SET,
    EngineError,
    EngineRefused,
    EngineStateUnknown,
)
from weightrollout.engine.http_calls import HttpCalls, Query, Reply, json_object, nonsense
from weightrollout.engine.protocol import Capabilities, EngineInfo, PauseWay
from weightrollout.engine.server_info import Facts, facts_of
from weightrollout.engine.tls import TlsFiles

#: The first /server_info of a process looks at the machine, which takes seconds; the others are quick.
INFO_S: Final = 60.0
#: Finish is two calls of the core inside, and the text names the one that failed (vLLM 0.27 to 0.33).
_LABEL_FAILED: Final = "set_weight_version"
NO_TRANSFER: Final = "weight transfer is not configured; start vLLM with --weight-transfer-config"
NO_SLEEP: Final = "sleep mode is not configured; start vLLM with --enable-sleep-mode"


class RlHttp:
    """One engine at `base_url`. `token` is the file with the bearer of our middleware in front of these routes."""

    def __init__(
        self, base_url: str, tls: TlsFiles | None = None, token: Path | None = None
    ) -> None:
        self._calls = HttpCalls(base_url, tls, token, fresh=True)
        self._asking: asyncio.Task[Facts] | None = None
        self._last: Facts | None = None

    async def info(self, *, deadline_s: float) -> EngineInfo:
        return (await self._facts(deadline_s)).info

    async def model(self, *, deadline_s: float) -> str:
        return (await self._facts(deadline_s)).model

    async def served_name(self, *, deadline_s: float) -> str:
        return (await self._facts(deadline_s)).served_name

    async def pause(self, mode: PauseMode, *, clear_cache: bool, deadline_s: float) -> None:
        # It was idle just now where the pod would be put back: Keep ends nobody.
        way = PauseWay.ABORT if mode is PauseMode.ABORT else PauseWay.KEEP
        await self.pause_as(way, clear_cache=clear_cache, deadline_s=deadline_s)

    async def pause_as(self, way: PauseWay, *, clear_cache: bool | None, deadline_s: float) -> None:
        query: Query = (("mode", way.value),)
        if clear_cache is not None:
            query += (("clear_cache", _said(clear_cache)),)
        await self._post("/pause", deadline_s, query=query)

    async def resume(self, *, deadline_s: float) -> None:
        await self._post("/resume", deadline_s)

    async def is_paused(self, *, deadline_s: float) -> bool:
        return _truth(await self._get("/is_paused", deadline_s), "is_paused")

    async def sleep(self, level: int, way: PauseWay, *, deadline_s: float) -> None:
        query = (("level", str(level)), ("mode", way.value))
        await self._if_sleep("/sleep", deadline_s, query)

    async def wake_up(self, tags: tuple[str, ...], *, deadline_s: float) -> None:
        await self._if_sleep("/wake_up", deadline_s, tuple(("tags", tag) for tag in tags))

    async def is_sleeping(self, *, deadline_s: float) -> bool:
        return _truth(await self._get("/is_sleeping", deadline_s), "is_sleeping")

    async def init_transfer(self, init_info_json: bytes, *, deadline_s: float) -> None:
        body = await self._if_transfer(deadline_s, init_info=init_info_json)
        await self._post("/init_weight_transfer_engine", deadline_s, body=body)

    async def start_update(self, *, deadline_s: float) -> None:
        await self._if_transfer(deadline_s)
        await self._post("/start_weight_update", deadline_s)

    async def start_draft_update(self, *, deadline_s: float) -> None:
        await self._if_transfer(deadline_s)
        await self._post("/start_draft_weight_update", deadline_s)

    async def update(self, update_info_json: bytes, *, deadline_s: float) -> None:
        body = await self._if_transfer(deadline_s, update_info=update_info_json)
        await self._post("/update_weights", deadline_s, body=body)

    async def finish_update(self, version: str | None, *, deadline_s: float) -> None:
        await self._if_transfer(deadline_s)
        body = None if version is None else json.dumps({"weight_version": _label(version)}).encode()
        await self._post("/finish_weight_update", deadline_s, body=body)

    async def set_version(self, version: str, *, deadline_s: float) -> None:
        body = json.dumps({"new_version": _label(version)}).encode()
        await self._post("/update_weight_version", deadline_s, body=body)

    async def version(self, *, deadline_s: float) -> str:
        reply = await self._get("/weight_info", deadline_s)
        found = _fields(reply).get("weight_version")
        if not isinstance(found, str):
            raise nonsense(reply.where)
        return found

    async def reset_prefix_cache(self, *, running: bool, external: bool, deadline_s: float) -> bool:
        query = (("reset_running_requests", _said(running)), ("reset_external", _said(external)))
        return _truth(await self._post("/reset_prefix_cache", deadline_s, query=query), "success")

    async def shutdown(self, *, deadline_s: float) -> None:
        raise EngineRefused(
            "ControlCallMissing",
            f"{self._calls.base_url}: the routes of vLLM's Python frontend do not end an engine",
        )

    async def serving(self, *, deadline_s: float) -> bool:
        """False: its core has died, by its own word, which has no body. Elastic scaling says 503, too."""
        reply = await self._ask("GET", "/health", deadline_s)
        if reply.status == 503 and not reply.text:
            return False
        if reply.status >= 500:
            raise EngineStateUnknown("ServerError", reply.words)
        return True

    async def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)
        await self._calls.close()

    # Which engine it is.

    async def _facts(self, deadline_s: float) -> Facts:
        """One question at a time, whoever gives up on it: vLLM starts a look at the machine for each that it gets
        before the first of these has ended."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_facts(), name="server_info")
            self._asking.add_done_callback(_heard)
        try:
            async with asyncio.timeout(deadline_s):
                return await asyncio.shield(self._asking)
        except TimeoutError as error:
            raise EngineStateUnknown(
                "DeadlineExceeded",
                f"GET {self._calls.base_url}/server_info: no answer within {deadline_s:g} s",
            ) from error

    async def _ask_facts(self) -> Facts:
        reply = await self._get("/server_info", INFO_S, query=(("config_format", "json"),))
        version = self._last.info.engine_version if self._last is not None else ""
        found = facts_of(reply, version)
        if self._last is None or self._last.info.instance != found.info.instance:
            found = facts_of(reply, await self._engine_version())
        self._last = found
        return found

    async def _engine_version(self) -> str:
        reply = await self._get("/version", INFO_S)
        return str(_fields(reply).get("version", ""))

    async def _able(self, deadline_s: float) -> Capabilities:
        """As this engine said last."""
        known = self._last or await self._facts(deadline_s)
        return known.info.capabilities

    async def _if_transfer(self, deadline_s: float, **payload: bytes) -> bytes | None:
        """The body; None: no payload. Raises EngineRefused, and nothing was sent."""
        if not (await self._able(deadline_s)).transfer:
            raise EngineRefused("FailedPrecondition", NO_TRANSFER)
        for name, said in payload.items():
            return b'{"%s":%s}' % (name.encode(), _object(name, said))
        return None

    async def _if_sleep(self, path: str, deadline_s: float, query: Query) -> None:
        if not (await self._able(deadline_s)).sleep:
            raise EngineRefused("FailedPrecondition", NO_SLEEP)
        await self._post(path, deadline_s, query=query)

    # One call.

    async def _get(self, path: str, deadline_s: float, query: Query = ()) -> Reply:
        return checked(await self._ask("GET", path, deadline_s, query=query))

    async def _post(
        self, path: str, deadline_s: float, *, query: Query = (), body: bytes | None = None
    ) -> Reply:
        return checked(await self._ask("POST", path, deadline_s, query=query, body=body))

    async def _ask(
        self,
        method: str,
        path: str,
        deadline_s: float,
        *,
        query: Query = (),
        body: bytes | None = None,
    ) -> Reply:
        try:
            return await self._calls.ask(
                method, path, deadline_s=deadline_s, body=body, query=query
            )
        except EngineStateUnknown as error:
            if error.reason != "ConnectionLost":
                raise
            raise EngineStateUnknown(CONNECTION_CUT, error.message) from error


def checked(reply: Reply) -> Reply:
    """Raises EngineRefused, EngineStateUnknown: a 500 may stand for a call that was executed."""
    if reply.status == 200:
        return reply
    raise _meaning(reply)


def _meaning(reply: Reply) -> EngineError:
    status, words = reply.status, reply.words
    if status in (401, 403):
        return EngineRefused("ControlTokenRefused", f"{words} (--engine-token-file)")
    if status in (404, 405):
        return EngineRefused(
            "ControlServiceMissing",
            f"{words}: start vLLM's Python frontend with VLLM_SERVER_DEV_MODE=1 and a guard"
            " (docs/security.md), or it is too old for this call",
        )
    if 400 <= status < 500:
        return EngineRefused("InvalidArgument", words)
    if _LABEL_FAILED in reply.text and reply.where.endswith("/finish_weight_update"):
        return EngineStateUnknown(LABEL_NOT_SET, words)
    return EngineStateUnknown("Internal", words)


def _fields(reply: Reply) -> dict[str, Any]:
    body = reply.json()
    if not isinstance(body, dict):
        raise nonsense(reply.where)
    return body


def _truth(reply: Reply, name: str) -> bool:
    """Raises EngineStateUnknown: what is no boolean must not pass for one."""
    found = _fields(reply).get(name)
    if not isinstance(found, bool):
        raise nonsense(reply.where)
    return found


def _said(truth: bool) -> str:
    return "true" if truth else "false"


def _label(version: str) -> str:
    if not version.strip():
        raise EngineRefused("InvalidArgument", "weight_version must not be empty")
    return version


def _object(name: str, payload: bytes) -> bytes:
    """As vllm.Control has it; these routes also take a list for an update, each rank its own."""
    json_object(name, payload)
    return payload


def _heard(task: "asyncio.Task[Facts]") -> None:
    """Whoever asked may have gone: an error is nobody's then."""
    if not task.cancelled():
        task.exception()
