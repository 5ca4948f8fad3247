"""How a call ends that did not succeed."""

from dataclasses import dataclass
from typing import Final


class Failed(Exception):
    """Ends a call with an HTTP status and one object. `code` is of `CODES`, or the engine's own reason."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Code:
    status: int
    meaning: str


CODES: Final = {
    "invalid": Code(400, "the body or a field; nothing was touched"),
    "unauthorized": Code(401, "the token is not the one in the file"),
    "not_offered": Code(404, "the engine reports that it cannot do that"),
    "not_found": Code(404, "there is no such route"),
    "method_not_allowed": Code(405, "a call that changes something, by a method that reads"),
    "operator_drives": Code(
        409, "`spec.driver` is Operator: a trainer may only end what it has begun"
    ),
    "swap_running": Code(409, "an operator's swap runs or is reserved: wait"),
    "poisoned": Code(409, "a swap left the engine half-loaded: it must be restarted"),
    "leaving": Code(409, "the pod is about to be ended"),
    "update_running": Code(
        409, "another call waits in the engine for its trainer: wait for its answer"
    ),
    "not_paused": Code(409, "weights change only in a pause: pause first"),
    "draining": Code(
        409, "a pause by `wait` has not ended, requests may run: pause again, by `keep` or `abort`"
    ),
    "session_open": Code(409, "an update is open: finish it first"),
    "no_session": Code(409, "no update is open: start one first"),
    "asleep": Code(409, "memory sleeps: wake it up first"),
    "weights_incomplete": Code(409, "an update failed: start, send everything, finish"),
    "NoDraft": Code(409, "the checkpoint has no draft that this engine can load"),
    "too_large": Code(413, "the body has more than 32 MiB"),
    "internal": Code(500, "a fault of the agent: its log has it whole"),
    "StillAsleep": Code(502, "the engine answered the wake-up with success, and sleeps on"),
    "stopping": Code(503, "the agent ends; a call under way may go on in the engine"),
    "starting": Code(503, "the engine has not answered yet"),
    "no_token": Code(503, "the token file cannot be read, or is too short"),
    "EngineUnreachable": Code(503, "the engine does not answer, or is gone"),
    "JournalUnwritable": Code(503, "the staging volume takes no journal; the engine was not asked"),
    "PauseUnknown": Code(504, "whether the engine is paused could not be read"),
    "not_drained": Code(
        504,
        "requests still ran when the time of a `wait` was over: it was taken back, nothing is paused",
    ),
}

#: Status of what is wrong with a checkpoint that was named, or with an engine that cannot take one; nothing was touched.
OF_CHECKPOINTS: Final = {
    400: "`DigestMismatch`, `ShapeMismatch`, `RestartRequired` and others: no engine of this kind can take these weights as they are",
    409: "`PrepareFailed`, `ControlPortExposed` and others: this engine takes none now",
    503: "`SourceNotFound`, `SourceUnreachable`, `StagingSpaceTooSmall` and others: it could not be staged; send it again",
}

#: Status of what the engine itself said, with its reason in CamelCase as `error`.
ENGINES_OWN: Final = {
    400: "`InvalidArgument`, `OutOfRange`: the payload, by the engine's word",
    409: "`FailedPrecondition`: it refused, and nothing changed",
    502: "`Internal` and others: it failed, and nobody knows what it did; an update leaves the weights incomplete",
    504: "`DeadlineExceeded`: it gave no answer within an hour; as 502",
}
