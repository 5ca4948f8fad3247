"""Between the agent's records and the messages of agent.proto. Pure.

What comes in is held to the limits of the API types, because it is journaled, becomes part of file
names, and is said again in every answer. What goes out is cut to what a message can carry.
"""

import math
import re
from typing import Final

from weightrollout import __version__
from weightrollout.agent import readiness
from weightrollout.agent.engine_watch import EngineSight
from weightrollout.agent.fence import Fence
from weightrollout.agent.readiness import NotReady
from weightrollout.agent.reasons import RefusalReason, Refused
from weightrollout.agent.state import Board, Staging, degraded, facts, is_baseline, loaded
from weightrollout.agent.state import refusal as refusal_of
from weightrollout.agent.wire_prompts import prompts
from weightrollout.api.names import BASELINE_VERSION, CAPABILITIES
from weightrollout.api.spec import (
    DIGEST_PATTERN,
    VERSION_PATTERN,
    Metadata,
    PauseMode,
    TakeOut,
)
from weightrollout.api.swap import SwapPhase
from weightrollout.swap.book import Book, Transaction
from weightrollout.swap.records import Content, SwapRequest
from weightrollout.weights.preflight import Refusal
from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire_draft import draft_of, signature_of, wire_draft, wire_signature

#: Between these two the engine is paused by our own transaction.
_PAUSED_PHASES = frozenset(
    {
        *(SwapPhase.TRANSFERRING, SwapPhase.CHECKING, SwapPhase.FINISHING),
        *(SwapPhase.DRAFTING, SwapPhase.RESUMING),
    }
)


#: Whoever does not say means Keep.
_PAUSE_MODES: Final = {
    pb.PAUSE_MODE_UNSPECIFIED: PauseMode.KEEP,
    pb.PAUSE_MODE_KEEP: PauseMode.KEEP,
    pb.PAUSE_MODE_ABORT: PauseMode.ABORT,
    pb.PAUSE_MODE_GIVE_UP: PauseMode.GIVE_UP,
}
#: Longest texts that are taken. A transaction is part of a file name of at most 255 bytes.
MAX_NAME: Final = 253
MAX_TXN: Final = 200
MAX_URI: Final = 2048
#: What a message says more is cut off; a refusal also travels in headers, which hold 8 KiB.
MAX_WORDS: Final = 1024
MAX_REFUSAL: Final = 400
#: No fleet has so many leaders; a higher one is a lie, and none could follow it.
MAX_EPOCH: Final = 1 << 48
MAX_SECONDS: Final = 7 * 86400.0


def fence(message: pb.Fence) -> Fence:
    """Raises Refused."""
    if message.epoch >= MAX_EPOCH:
        raise Refused(RefusalReason.BAD_REQUEST, f"an epoch is below {MAX_EPOCH}")
    return Fence(_named("owner_uid", message.owner_uid, MAX_NAME), message.epoch)


def txn(said: str) -> str:
    """Raises Refused."""
    return _named("txn", said, MAX_TXN)


def content(message: pb.Weights) -> Content:
    """Any field may be empty. Raises Refused."""
    _named("revision", message.revision, MAX_NAME)
    if message.version and not re.fullmatch(VERSION_PATTERN, message.version):
        raise Refused(RefusalReason.BAD_REQUEST, f"no version: {message.version[:80]!r}")
    if message.digest and not re.fullmatch(DIGEST_PATTERN, message.digest):
        raise Refused(RefusalReason.BAD_REQUEST, f"no digest: {message.digest[:80]!r}")
    if len(message.uri) > MAX_URI:
        raise Refused(RefusalReason.BAD_REQUEST, f"the uri is longer than {MAX_URI} characters")
    ignored = message.metadata == pb.METADATA_IGNORE
    metadata = Metadata.IGNORE if ignored else Metadata.REQUIRE
    try:
        draft = draft_of(message)
    except ValueError as error:
        what = f"{message.draft.uri[:80]!r}, {message.draft.digest[:80]!r}"
        raise Refused(RefusalReason.BAD_REQUEST, f"no draft: {what}") from error
    try:
        signature = signature_of(message)
    except ValueError as error:
        what = f"no signature: {message.signature.file[:80]!r}"
        raise Refused(RefusalReason.BAD_REQUEST, what) from error
    return Content(
        *(message.revision, message.version, message.uri, message.digest),
        *(metadata, draft, signature),
    )


def swappable(message: pb.Weights) -> Content:
    """Weights that can be loaded in place. Raises Refused."""
    if not message.digest or not message.version:
        raise Refused(RefusalReason.BAD_REQUEST, "weights need a digest and a version")
    if message.version == BASELINE_VERSION:
        raise Refused(
            RefusalReason.BAD_REQUEST,
            f"version {BASELINE_VERSION!r} is the engine's own label at its start",
        )
    return content(message)


def take_out(value: pb.TakeOut.ValueType) -> TakeOut:
    return TakeOut.NONE if value == pb.TAKE_OUT_NONE else TakeOut.ENDPOINT


def swap_request(message: pb.SwapRequest, last_good: Content | None) -> SwapRequest:
    """Raises Refused."""
    if not message.txn:
        raise Refused(RefusalReason.BAD_REQUEST, "a txn is needed")
    if not 0 < message.deadline_seconds <= MAX_SECONDS:
        raise Refused(
            RefusalReason.BAD_REQUEST,
            f"deadline_seconds must be above 0 and at most {MAX_SECONDS:g}",
        )
    if not 0 <= message.drain_seconds <= MAX_SECONDS:
        raise Refused(RefusalReason.BAD_REQUEST, f"drain_seconds must be from 0 to {MAX_SECONDS:g}")
    mode = _PAUSE_MODES.get(message.pause_mode)
    if mode is None:  # a newer operator's: Keep might be the opposite of what it promised
        raise Refused(RefusalReason.BAD_REQUEST, f"pause_mode {message.pause_mode} is not known")
    return SwapRequest(
        txn=txn(message.txn),
        attempt=message.attempt,
        target=swappable(message.weights),
        last_good=last_good,
        pause_mode=mode,
        clear_cache=message.clear_cache,
        drain_s=message.drain_seconds,
        deadline_s=message.deadline_seconds,
        prompts=prompts(message),
    )


def heartbeat(seconds: float, default_s: float, least_s: float) -> float:
    """How long Watch may be silent."""
    if not math.isfinite(seconds) or seconds <= 0:
        return default_s
    return min(max(least_s, seconds), MAX_SECONDS)


def words(text: str, longest: int = MAX_WORDS) -> str:
    """What protobuf can hold, and a reader can read."""
    return text[:longest].encode(errors="backslashreplace").decode()


def _named(what: str, said: str, longest: int) -> str:
    """Goes into file names, logs and messages."""
    if len(said) > longest or not said.isprintable():
        raise Refused(
            RefusalReason.BAD_REQUEST,
            f"{what} must be printable text of at most {longest} characters",
        )
    return said


def weights(record: Content) -> pb.Weights:
    return pb.Weights(
        revision=record.revision,
        version=record.version,
        uri=record.uri,
        digest=record.digest,
        metadata=_wire_metadata(record.metadata),
        draft=wire_draft(record.draft),
        signature=wire_signature(record.signature),
    )


def transaction(record: Transaction) -> pb.Transaction:
    failure = record.failure
    return pb.Transaction(
        txn=record.txn,
        attempt=record.attempt,
        weights=weights(record.weights),
        phase=record.phase,
        outcome=record.outcome or "",
        failure_class=failure.failure_class if failure else "",
        reason=words(failure.reason) if failure else "",
        message=words(failure.message) if failure else "",
        pause_millis=record.pause_millis,
        timings=[pb.PhaseTiming(phase=each.phase, millis=each.millis) for each in record.timings],
    )


def staging(record: Staging) -> pb.StageProgress:
    return pb.StageProgress(
        digest=record.digest,
        bytes=record.bytes,
        total=record.total,
        done=record.done,
        uri=record.uri,
        failure_class=record.failure_class or "",
        reason=words(record.reason),
        message=words(record.message),
        max_bytes_per_second=record.limit,
        bytes_per_second=record.bytes_per_second,
    )


def refusal(refused: Refused) -> pb.Refusal:
    return pb.Refusal(
        reason=words(refused.reason, MAX_REFUSAL),
        message=words(refused.message, MAX_REFUSAL),
        epoch=refused.epoch,
        failure_class=refused.failure_class,
    )


def agent_state(
    book: Book, board: Board, sight: EngineSight, *, reachable: bool, now: float
) -> pb.AgentState:
    """All that the agent knows."""
    # Smoother than the port, which asks the engine for every probe; so is the kubelet.
    why = readiness.not_ready(facts(book, board, sight, answering=reachable))
    state = pb.AgentState(
        agent_version=__version__,
        ready=why is None,
        engine=_engine(book, sight, reachable=reachable),
        staged=sorted(board.staged),
        attempts=[_attempts(book, index) for index in range(len(book.attempts))],
        poisoned=book.poisoned != "" and book.poisoned == sight.instance,
        paused=_is_paused(board, sight),
        drafts_staged=sorted(board.drafts_staged),
        capabilities=sorted(CAPABILITIES),
        signed=sorted(board.signed),
    )
    _explain(state, why, refusal_of(board, sight))
    if book.owner_uid:
        state.fence.CopyFrom(pb.Fence(owner_uid=book.owner_uid, epoch=book.epoch))
    _contents(state, book, sight)
    if board.staging is not None:
        state.staging.CopyFrom(staging(board.staging))
    _swap(state, book, board, now)
    return state


def _explain(state: pb.AgentState, why: NotReady | None, unfit: Refusal | None) -> None:
    if why is not None:
        state.not_ready_reason = why.reason
        state.not_ready_message = words(why.message)
    if unfit is not None:
        state.incompatible_reason = unfit.reason
        state.incompatible_message = words(unfit.message)


def _contents(state: pb.AgentState, book: Book, sight: EngineSight) -> None:
    serving = loaded(book, sight)
    if serving is not None:
        state.serving.CopyFrom(weights(serving))
    note = degraded(book, sight)
    if note is not None:
        state.degraded_reason = note.reason
        state.degraded_message = words(note.message)
    if book.told is not None and not book.told.is_baseline:
        state.told.CopyFrom(weights(book.told))
    if book.last_good is not None:
        state.last_good.CopyFrom(weights(book.last_good))


def _swap(state: pb.AgentState, book: Book, board: Board, now: float) -> None:
    if book.reservation is not None and board.reserved_until is not None:
        state.reservation.CopyFrom(
            pb.Reservation(
                txn=book.reservation.txn,
                take_out=_wire_take_out(book.reservation.take_out),
                ttl_seconds=max(0.0, board.reserved_until - now),
            )
        )
    shown = board.live or (book.finished[0] if book.finished else None)
    if shown is not None:
        state.transaction.CopyFrom(transaction(shown))


def _engine(book: Book, sight: EngineSight, *, reachable: bool) -> pb.EngineState:
    return pb.EngineState(
        reachable=reachable,
        instance=sight.instance,
        engine_version=sight.engine_version,
        weight_version=sight.weight_version,
        model=words(sight.model),
        baseline=is_baseline(book, sight),
        draft=sight.draft_plan_id != "",
        plugin_version=words(sight.plugin_version, MAX_NAME),
    )


def _attempts(book: Book, index: int) -> pb.Attempts:
    record = book.attempts[index]
    failure = record.failure
    return pb.Attempts(
        digest=record.digest,
        attempts=record.attempts,
        failure_class=failure.failure_class if failure else "",
        reason=words(failure.reason) if failure else "",
        message=words(failure.message) if failure else "",
    )


def _is_paused(board: Board, sight: EngineSight) -> bool:
    return sight.paused or (board.live is not None and board.live.phase in _PAUSED_PHASES)


def _wire_metadata(value: Metadata) -> pb.Metadata.ValueType:
    """The default is not said: an older operator need not understand it."""
    return pb.METADATA_IGNORE if value is Metadata.IGNORE else pb.METADATA_UNSPECIFIED


def _wire_take_out(value: TakeOut) -> pb.TakeOut.ValueType:
    return pb.TAKE_OUT_NONE if value is TakeOut.NONE else pb.TAKE_OUT_ENDPOINT
