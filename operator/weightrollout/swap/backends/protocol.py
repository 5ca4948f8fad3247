"""What the driver asks of a way to bring weights in."""

from dataclasses import dataclass
from typing import Protocol

from weightrollout.handover.records import TARGET
from weightrollout.swap.records import Answer, Content, Failure
from weightrollout.weights.golden import Golden


@dataclass(frozen=True, slots=True)
class Transfer:
    """One Init..Finish cycle, the draft's session included."""

    id: str
    content: Content
    instance: str
    draft: str = ""  # digest of the checkpoint that the draft comes from; "": no such session


class BackendError(Exception):
    """A step of the backend failed; `answer` says what that means for the engine."""

    def __init__(self, answer: Answer, failure: Failure) -> None:
        super().__init__(f"{failure.reason}: {failure.message}")
        self.answer = answer
        self.failure = failure


class Backend(Protocol):
    """All but `prepared` are quick and local. All may raise BackendError."""

    def init_info(self, transfer: Transfer) -> bytes:
        """JSON for InitWeightTransferEngine."""
        ...

    def update_info(self, transfer: Transfer, *, session: str = TARGET) -> bytes:
        """JSON for UpdateWeights in that session, "target" or "draft"."""
        ...

    async def prepared(self, transfer: Transfer, *, deadline_s: float) -> None:
        """Return when every rank is ready to copy, the draft too where there is one."""
        ...

    def golden(self, transfer: Transfer) -> Golden | None:
        """What the weights' own checkpoint says they answer; None: nothing. The first time it reads
        a file. A draft says nothing: it never answers alone."""
        ...

    def prove(self, transfer: Transfer, *, session: str = TARGET) -> None:
        """Return only if that session is proven to have loaded exactly the staged bytes."""
        ...
