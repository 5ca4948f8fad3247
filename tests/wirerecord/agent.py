"""The agent, with all that it hears and says on the wire written down: `python -m wirerecord.agent`."""

# ruff: noqa: N802 - the methods' names are the proto's

import os
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any, Final

from google.protobuf.message import Message

from weightrollout.agent import main
from weightrollout.agent.service import REFUSAL_KEY, AgentService
from weightrollout.wire.agent import agent_pb2 as pb
from wirerecord.line import ANSWER, REFUSAL, REQUEST, Line

#: Environment: the file that is appended to.
RECORD: Final = "WIRE_RECORD"


class Writer:
    def __init__(self, path: Path) -> None:
        self._path = path
        text = path.read_text() if path.exists() else ""
        self._calls = max((Line.of(each).number for each in text.splitlines()), default=0)

    def begin(self) -> int:
        self._calls += 1
        return self._calls

    def write(self, number: int, call: str, kind: str, message: Message) -> None:
        line = Line(number, call, kind, message.SerializeToString())
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line.text())


class _Context:
    """Writes a refusal down on its way out."""

    def __init__(self, real: Any, writer: Writer, number: int, call: str) -> None:
        self._real = real
        self._writer = writer
        self._number = number
        self._call = call

    async def abort(self, code: Any, details: str, metadata: Any = ()) -> None:
        for key, value in metadata:
            if key == REFUSAL_KEY:
                said = pb.Refusal.FromString(value)
                self._writer.write(self._number, self._call, REFUSAL, said)
        await self._real.abort(code, details, metadata)


class RecordingService(AgentService):
    def __init__(self, desk: Any) -> None:
        super().__init__(desk)
        self._writer = Writer(Path(os.environ[RECORD]))

    # Spelt out: gRPC looks at each method for whether it is a coroutine or a generator.

    async def Hello(self, request: Any, context: Any) -> Any:
        return await self._unary("Hello", super().Hello, request, context)

    async def Reserve(self, request: Any, context: Any) -> Any:
        return await self._unary("Reserve", super().Reserve, request, context)

    async def Release(self, request: Any, context: Any) -> Any:
        return await self._unary("Release", super().Release, request, context)

    async def RestartEngine(self, request: Any, context: Any) -> Any:
        return await self._unary("RestartEngine", super().RestartEngine, request, context)

    async def Watch(self, request: Any, context: Any) -> AsyncIterator[Any]:
        async for each in self._stream("Watch", super().Watch, request, context):
            yield each

    async def Stage(self, request: Any, context: Any) -> AsyncIterator[Any]:
        async for each in self._stream("Stage", super().Stage, request, context):
            yield each

    async def Swap(self, request: Any, context: Any) -> AsyncIterator[Any]:
        async for each in self._stream("Swap", super().Swap, request, context):
            yield each

    async def _unary(self, name: str, call: Any, request: Any, context: Any) -> Any:
        number = self._begun(name, request)
        answering: Awaitable[Message] = call(request, _Context(context, self._writer, number, name))
        answer = await answering
        self._writer.write(number, name, ANSWER, answer)
        return answer

    async def _stream(
        self, name: str, call: Any, request: Any, context: Any
    ) -> AsyncIterator[Message]:
        number = self._begun(name, request)
        answers: AsyncIterator[Message] = call(
            request, _Context(context, self._writer, number, name)
        )
        last: Message | None = None
        async for answer in answers:
            if answer != last:  # heartbeats say nothing new
                self._writer.write(number, name, ANSWER, answer)
            last = answer
            yield answer

    def _begun(self, name: str, request: Message) -> int:
        number = self._writer.begin()
        self._writer.write(number, name, REQUEST, request)
        return number


if __name__ == "__main__":
    setattr(main, "AgentService", RecordingService)  # noqa: B010 - it is imported there
    raise SystemExit(main.main())
