"""`Driven` through NVIDIA Dynamo's sidecar (`--enable-rl`): what changes the engine goes to the sidecar's routes below
/engine/, which take the worker out of Dynamo's routing before a pause and back after a resume.

Which engine it is and what it can do is asked of the engine's own vllm.Control, as the sidecar does: its routes tell
neither. What the sidecar does not offer counts as missing. Source of routes, bodies and errors: lib/sidecar/vllm and
lib/backend-common of ai-dynamo/dynamo, pull requests 13259 to 13261 and 13066.
"""

import json
import re
from dataclasses import replace
from typing import Any, Final

from weightrollout.api.spec import PauseMode
from weightrollout.engine.errors import (
    CONNECTION_CUT,
    LABEL_NOT_SET,
    EngineError,
    EngineRefused,
    EngineStateUnknown,
)
from weightrollout.engine.http_calls import HttpCalls, Reply, json_object, nonsense
from weightrollout.engine.protocol import EngineInfo, PauseWay
from weightrollout.engine.tls import TlsFiles
from weightrollout.engine.vllm_grpc import REFUSALS, camel
from weightrollout.engine.vllm_lifecycle import VllmLifecycle

#: A failed call of the engine ends with its code, as "StartWeightUpdate: text (Internal)".
_CODE: Final = re.compile(r"\((\w+)\)\s*$")
_REFUSED: Final = frozenset(camel(code) for code in REFUSALS)
#: Finish is two calls inside, as over vllm.Control, and the text is the engine's.
_LABEL_FAILED: Final = "update_weight_version"
#: Said with 200 before anything is touched. Anything else that is said so may be too late.
_UNTOUCHED: Final = (
    "unavailable while the worker is",
    "failed to unregister endpoint before",
    "must be",
)

PAUSE: Final = "control/pause_generation"
SLEEP: Final = "control/sleep"
INIT: Final = "update/init_weight_transfer_engine"
_WRONG: Final[dict[str, dict[str, Any]]] = {
    PAUSE: {"mode": "nobody"},
    SLEEP: {"mode": "nobody"},
    INIT: {},
}
#: Of an update's body, whose errors have no code of the engine.
_MISSING: Final = ("missing `init_info`", "missing `update_info`", "missing non-empty")


class Dynamo(VllmLifecycle):
    """`sidecar` is the base URL of its system server (DYN_SYSTEM_PORT); `target` the engine's vllm.Control."""

    def __init__(
        self,
        sidecar: str,
        target: str,
        service: str = "vllm.Control",
        tls: TlsFiles | None = None,
    ) -> None:
        super().__init__(target, service, tls)
        self._sidecar = HttpCalls(sidecar, fresh=True)
        self._offers: dict[str, tuple[str, ...]] = {}  # by instance: its routes never change

    async def info(self, *, deadline_s: float) -> EngineInfo:
        told = await super().info(deadline_s=deadline_s)
        if told.instance not in self._offers:
            self._offers = {told.instance: await self._offered(deadline_s)}
        offers, can = self._offers[told.instance], told.capabilities
        transfer = can.transfer and INIT in offers
        return replace(
            told,
            transfer_backend=told.transfer_backend if transfer else "",
            capabilities=replace(
                can,
                rl=can.rl and PAUSE in offers,
                transfer=transfer,
                sleep=can.sleep and SLEEP in offers,
                draft=can.draft and transfer,  # its one route cannot be tried
            ),
        )

    async def pause(self, mode: PauseMode, *, clear_cache: bool, deadline_s: float) -> None:
        way = PauseWay.ABORT if mode is PauseMode.ABORT else PauseWay.KEEP
        await self.pause_as(way, clear_cache=clear_cache, deadline_s=deadline_s)

    async def pause_as(self, way: PauseWay, *, clear_cache: bool | None, deadline_s: float) -> None:
        body = {"mode": way.value, "clear_cache": clear_cache}  # null is as good as absent
        await self._ask(PAUSE, body, deadline_s)

    async def resume(self, *, deadline_s: float) -> None:
        await self._ask("control/resume_generation", {}, deadline_s)

    async def is_paused(self, *, deadline_s: float) -> bool:
        return await self._truth("control/is_paused", "is_paused", deadline_s)

    async def is_sleeping(self, *, deadline_s: float) -> bool:
        return await self._truth("control/is_sleeping", "is_sleeping", deadline_s)

    async def sleep(self, level: int, way: PauseWay, *, deadline_s: float) -> None:
        await self._ask(SLEEP, {"level": level, "mode": way.value}, deadline_s)

    async def wake_up(self, tags: tuple[str, ...], *, deadline_s: float) -> None:
        await self._ask("control/wake_up", {"tags": list(tags) or None}, deadline_s)

    async def init_transfer(self, init_info_json: bytes, *, deadline_s: float) -> None:
        body = {"init_info": json_object("init_info", init_info_json)}
        await self._ask(INIT, body, deadline_s)

    async def start_update(self, *, deadline_s: float) -> None:
        await self._ask("update/start_weight_update", {}, deadline_s)

    async def start_draft_update(self, *, deadline_s: float) -> None:
        await self._ask("update/start_draft_weight_update", {}, deadline_s)

    async def update(self, update_info_json: bytes, *, deadline_s: float) -> None:
        body = {"update_info": json_object("update_info", update_info_json)}
        await self._ask("update/update_weights", body, deadline_s)

    async def finish_update(self, version: str | None, *, deadline_s: float) -> None:
        await self._ask("update/finish_weight_update", {"weight_version": version}, deadline_s)

    async def set_version(self, version: str, *, deadline_s: float) -> None:
        await self._ask("update/update_weight_version", {"new_version": version}, deadline_s)

    async def version(self, *, deadline_s: float) -> str:
        reply, said = await self._ask("control/get_weight_version", {}, deadline_s)
        found = said.get("weight_version")
        if not isinstance(found, str):
            raise nonsense(reply.where)
        return found

    async def close(self) -> None:
        await self._sidecar.close()
        await super().close()

    async def _offered(self, deadline_s: float) -> tuple[str, ...]:
        """Tried by bodies that are refused before anything is done; without the route it is 404."""
        return tuple(
            [route for route, wrong in _WRONG.items() if await self._has(route, wrong, deadline_s)]
        )

    async def _has(self, route: str, wrong: dict[str, Any], deadline_s: float) -> bool:
        try:
            await self._ask(route, wrong, deadline_s)
        except EngineRefused as refused:
            if refused.reason in ("InvalidArgument", "ControlCallMissing"):
                return refused.reason == "InvalidArgument"
            raise
        raise nonsense(f"{self._sidecar.base_url}/engine/{route}")

    async def _truth(self, route: str, name: str, deadline_s: float) -> bool:
        reply, said = await self._ask(route, {}, deadline_s)
        found = said.get(name)
        if not isinstance(found, bool):
            raise nonsense(reply.where)
        return found

    async def _ask(
        self, route: str, body: dict[str, Any], deadline_s: float
    ) -> tuple[Reply, dict[str, Any]]:
        try:
            reply = await self._sidecar.ask(
                *("POST", f"/engine/{route}"), deadline_s=deadline_s, body=json.dumps(body).encode()
            )
        except EngineStateUnknown as error:
            if error.reason != "ConnectionLost":
                raise
            raise EngineStateUnknown(CONNECTION_CUT, error.message) from error
        return reply, answered(reply)


def answered(reply: Reply) -> dict[str, Any]:
    """The body of a success, which neither the status nor the body alone tells. Raises EngineError."""
    if reply.status != 200:
        raise _failed(reply)
    said = reply.json()
    if not isinstance(said, dict):
        raise nonsense(reply.where)
    if str(said.get("status", "")).lower() == "error" or said.get("success") is False:
        raise _said_no(reply, str(said.get("message", "")))
    return said


def _said_no(reply: Reply, message: str) -> EngineError:
    if not any(words in message for words in _UNTOUCHED):
        return EngineStateUnknown("Internal", reply.words)
    form = "must be" in message
    return EngineRefused("InvalidArgument" if form else "SidecarUnavailable", reply.words)


def _failed(reply: Reply) -> EngineError:
    if reply.status in (404, 405):
        return EngineRefused(
            "ControlCallMissing",
            f"{reply.words}: start Dynamo's sidecar with --enable-rl, or the engine cannot do this",
        )
    if 400 <= reply.status < 500:
        return EngineRefused("InvalidArgument", reply.words)
    try:
        message = str(json.loads(reply.text)["message"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return EngineStateUnknown("Internal", reply.words)
    found = _CODE.search(message)
    if found is None and any(words in message for words in _MISSING):
        return EngineRefused("InvalidArgument", reply.words)
    code = found[1] if found else "Internal"
    if code in _REFUSED:
        return EngineRefused(code, reply.words)
    if _LABEL_FAILED in message and reply.where.endswith("/finish_weight_update"):
        return EngineStateUnknown(LABEL_NOT_SET, reply.words)
    return EngineStateUnknown(code, reply.words)
