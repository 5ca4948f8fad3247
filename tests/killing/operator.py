"""python -m killing.operator: the operator, which dies at an action, a call to an agent, or a write."""

# ruff: noqa: B010 - the type checker refuses a plain assignment to a method

import re
import sys
from typing import Any, Final

from killing.armed import Armed
from killing.boundaries import AFTER, AGENT_CALLS, ANNOUNCE, BEFORE
from weightrollout.controller import agent_access
from weightrollout.controller.act import supervisor
from weightrollout.controller.act.announce import announce
from weightrollout.controller.main import main
from weightrollout.kube.client import Client, Json
from weightrollout.wire.agent.agent_pb2_grpc import AgentStub

#: Group 1 of the path of an object or a collection: its plural; group 2: "/status" or "/eviction".
PATH: Final = re.compile(r"/namespaces/[^/]+/([^/]+)(?:/[^/]+)?(/status|/eviction)?$")
READS: Final = frozenset({"GET", "WATCH"})


def patch(armed: Armed) -> None:
    _actions(armed)
    _writes(armed)
    _calls(armed)


def _actions(armed: Armed) -> None:
    job_of = supervisor.job_of

    async def patched_job(context: Any, action: Any) -> None:
        boundary = f"operator/action/{supervisor.work_of(action).doing}"
        armed.strike(f"{boundary}/{BEFORE}")
        await job_of(context, action)
        armed.strike(f"{boundary}/{AFTER}")

    def patched_announce(context: Any, action: Any) -> None:
        armed.strike(f"operator/action/{ANNOUNCE}/{BEFORE}")
        announce(context, action)
        armed.strike(f"operator/action/{ANNOUNCE}/{AFTER}")

    setattr(supervisor, "job_of", patched_job)
    setattr(supervisor, "announce", patched_announce)


def _writes(armed: Armed) -> None:
    request = Client.request

    async def patched(self: Client, verb: str, path: str, **rest: Any) -> Json:
        if verb in READS:
            return await request(self, verb, path, **rest)
        found = PATH.search(path)
        assert found is not None, f"not the path of an object: {path}"
        boundary = f"operator/write/{found[1]}{found[2] or ''}"
        armed.strike(f"{boundary}/{BEFORE}")
        answer = await request(self, verb, path, **rest)
        armed.strike(f"{boundary}/{AFTER}")
        return answer

    setattr(Client, "request", patched)


def _calls(armed: Armed) -> None:
    class Stub:
        def __init__(self, channel: Any) -> None:
            real = AgentStub(channel)
            for name in AGENT_CALLS:
                setattr(self, name, _call(armed, f"operator/call/{name}", getattr(real, name)))

    setattr(agent_access, "AgentStub", Stub)


def _call(armed: Armed, boundary: str, real: Any) -> Any:
    def called(request: Any, **rest: Any) -> Any:
        armed.strike(f"{boundary}/{BEFORE}")
        call = real(request, **rest)
        return _Stream(armed, boundary, call) if hasattr(call, "read") else answered(call)

    async def answered(call: Any) -> Any:
        answer = await call
        armed.strike(f"{boundary}/{AFTER}")
        return answer

    return called


class _Stream:
    """A stream of progress. After: its first message has come in."""

    def __init__(self, armed: Armed, boundary: str, call: Any) -> None:
        self._armed = armed
        self._boundary = boundary
        self._call = call

    async def read(self) -> Any:
        message = await self._call.read()
        self._armed.strike(f"{self._boundary}/{AFTER}")
        return message

    def cancel(self) -> None:
        self._call.cancel()


if __name__ == "__main__":
    patch(Armed.from_environment())
    sys.exit(main())
