"""One message of a recorded conversation: its bytes as they were on the wire, and what they say, for people."""

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from google.protobuf import json_format
from google.protobuf.message import Message

from weightrollout.wire.agent import agent_pb2 as pb

RELEASES: Final = Path(__file__).parent / "releases"
CONVERSATION: Final = "conversation.jsonl"

#: Type of request and of answer.
CALLS: Final[dict[str, tuple[type[Message], type[Message]]]] = {
    "Hello": (pb.HelloRequest, pb.AgentState),
    "Watch": (pb.WatchRequest, pb.AgentState),
    "Stage": (pb.StageRequest, pb.StageProgress),
    "Reserve": (pb.ReserveRequest, pb.ReserveResponse),
    "Swap": (pb.SwapRequest, pb.SwapProgress),
    "Release": (pb.ReleaseRequest, pb.ReleaseResponse),
    "RestartEngine": (pb.RestartEngineRequest, pb.RestartEngineResponse),
}
REQUEST, ANSWER, REFUSAL = "request", "answer", "refusal"


@dataclass(frozen=True)
class Line:
    number: int  # of the call, in the order in which they came
    call: str  # one of CALLS
    kind: str  # REQUEST, then any number of ANSWER, or a REFUSAL
    data: bytes

    @property
    def type(self) -> type[Message]:
        if self.kind == REFUSAL:
            return pb.Refusal
        return CALLS[self.call][0 if self.kind == REQUEST else 1]

    @property
    def message(self) -> Any:
        return self.type.FromString(self.data)

    def text(self) -> str:
        said = json_format.MessageToDict(self.message)
        body = {
            "number": self.number,
            "call": self.call,
            "kind": self.kind,
            "said": said,
            "bytes": base64.b64encode(self.data).decode(),
        }
        return json.dumps(body) + "\n"

    @classmethod
    def of(cls, text: str) -> Self:
        body = json.loads(text)
        data = base64.b64decode(body["bytes"])
        return cls(body["number"], body["call"], body["kind"], data)


@dataclass(frozen=True)
class Call:
    """What was asked once, and all that came back."""

    name: str
    request: Any
    answers: tuple[Any, ...]
    refusal: Any | None


def read(path: Path) -> list[Line]:
    return [Line.of(text) for text in path.read_text(encoding="utf-8").splitlines()]


def calls(lines: Iterable[Line]) -> list[Call]:
    """In the order in which they were asked."""
    by_number: dict[int, list[Line]] = {}
    for line in lines:
        by_number.setdefault(line.number, []).append(line)
    return [_call(by_number[number]) for number in sorted(by_number)]


def _call(lines: list[Line]) -> Call:
    asked, *said = lines
    assert asked.kind == REQUEST, f"call {asked.number} begins with its {asked.kind}"
    answers = tuple(each.message for each in said if each.kind == ANSWER)
    refusal = next((each.message for each in said if each.kind == REFUSAL), None)
    return Call(asked.call, asked.message, answers, refusal)
