"""What an agent's answer means: its refusal in its own words, or no answer at all.

AgentCallFailed
|-- AgentRefusedCall   it answered: nothing was changed; reason, class and epoch are the agent's
`-- AgentUnreachable   no answer: unknown whether it acted; every call may be sent again
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, TypeVar, cast

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from weightrollout.api.spec import Metadata
from weightrollout.api.swap import FailureClass
from weightrollout.controller.agent_view import NotUnderstood, text, word
from weightrollout.controller.leader import Fence
from weightrollout.rollout.fleet import Ref
from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire_draft import wire_draft, wire_signature

REFUSAL_KEY: Final = "weightrollout-refusal-bin"
CALL_S: Final = 10.0
#: No fleet has so many leaders: an epoch beyond it is a lie, and following it would end at 2^63.
MAX_EPOCH: Final = 1 << 48

S = TypeVar("S")
V = TypeVar("V")

_REFUSALS: Final = {
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ABORTED,
}


class AgentCallFailed(Exception):
    reason = "AgentCallFailed"


class AgentUnreachable(AgentCallFailed):
    reason = "AgentUnreachable"


class AgentRefusedCall(AgentCallFailed):
    def __init__(
        self, reason: str, message: str, epoch: int = 0, failure_class: FailureClass | None = None
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.epoch = epoch
        self.failure_class = failure_class


def call_error(call: str, error: grpc.aio.AioRpcError) -> AgentCallFailed:
    for key, value in cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ()):
        if key == REFUSAL_KEY and isinstance(value, bytes):
            return _refusal(value)
    code, details = error.code(), error.details() or ""
    if code is grpc.StatusCode.UNIMPLEMENTED:
        message = (
            f"the agent does not know {call}: it is older than this operator, update its image"
        )
        return AgentRefusedCall("AgentTooOld", message)
    if code in _REFUSALS:
        return AgentRefusedCall("AgentRefused", f"{call}: {code.name}: {details}")
    return AgentUnreachable(f"{call}: {code.name}: {details}")


def channel_closed() -> bool:
    """Of a CancelledError: whether a channel was closed under the call, and nobody asked this task to end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() == 0


def _refusal(value: bytes) -> AgentRefusedCall:
    try:
        said = pb.Refusal.FromString(value)
    except DecodeError:
        return AgentRefusedCall("AgentRefused", "it refused, and its reason cannot be read")
    failure_class = (
        FailureClass(said.failure_class) if said.failure_class in set(FailureClass) else None
    )
    epoch = said.epoch if said.epoch < MAX_EPOCH else 0
    return AgentRefusedCall(word(said.reason), text(said.message), epoch, failure_class)


def understood(view: Callable[[S], V], said: S) -> V:
    """Raises AgentUnreachable: what it said says nothing about what it did."""
    try:
        return view(said)
    except NotUnderstood as wrong:
        raise AgentUnreachable(f"its answer was not understood: {wrong}") from wrong


def wire_fence(fence: Fence) -> pb.Fence:
    return pb.Fence(owner_uid=fence.owner_uid, epoch=fence.epoch)


def wire_weights(ref: Ref) -> pb.Weights:
    """The baseline is the empty message; a digest that is not known yet is empty too."""
    if ref.is_baseline:
        return pb.Weights()
    return pb.Weights(
        revision=ref.revision,
        version=ref.version,
        uri=ref.uri,
        digest=ref.digest or "",
        metadata=_wire_metadata(ref.metadata),
        draft=wire_draft(ref.draft),
        signature=wire_signature(ref.signature),
    )


def _wire_metadata(value: Metadata) -> pb.Metadata.ValueType:
    """The default is not said: an older agent need not understand it."""
    return pb.METADATA_IGNORE if value is Metadata.IGNORE else pb.METADATA_UNSPECIFIED
