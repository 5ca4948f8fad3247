"""Between the agent's records and the messages of agent.proto. Pure."""

from weightrollout import __version__
from weightrollout.agent import readiness
from weightrollout.agent.engine_watch import EngineSight
from weightrollout.agent.fence import Fence
from weightrollout.agent.readiness import NotReady
from weightrollout.agent.reasons import RefusalReason, Refused
from weightrollout.agent.state import Board, Staging, facts, is_baseline, loaded
from weightrollout.api.names import BASELINE_VERSION
from weightrollout.api.spec import Expect, PauseMode, Prompt, TakeOut
from weightrollout.api.swap import SwapPhase
from weightrollout.swap.book import Book, Transaction
from weightrollout.swap.records import Content, SwapRequest
from weightrollout.wire.agent import agent_pb2 as pb

#: Between these two the engine is paused by our own transaction.
_PAUSED_PHASES = frozenset(
    {SwapPhase.TRANSFERRING, SwapPhase.CHECKING, SwapPhase.FINISHING, SwapPhase.RESUMING}
)


def fence(message: pb.Fence) -> Fence:
    return Fence(message.owner_uid, message.epoch)


def content(message: pb.Weights) -> Content:
    return Content(message.revision, message.version, message.uri, message.digest)


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
    if message.deadline_seconds <= 0:
        raise Refused(RefusalReason.BAD_REQUEST, "deadline_seconds must be above 0")
    abort = message.pause_mode == pb.PAUSE_MODE_ABORT
    return SwapRequest(
        txn=message.txn,
        attempt=message.attempt,
        target=swappable(message.weights),
        last_good=last_good,
        pause_mode=PauseMode.ABORT if abort else PauseMode.KEEP,
        clear_cache=message.clear_cache,
        drain_s=message.drain_seconds,
        deadline_s=message.deadline_seconds,
        prompts=tuple(
            Prompt(
                prompt=each.prompt,
                max_tokens=each.max_tokens,
                expect=Expect(contains=each.contains),
            )
            for each in message.prompts
        ),
    )


def weights(record: Content) -> pb.Weights:
    return pb.Weights(
        revision=record.revision, version=record.version, uri=record.uri, digest=record.digest
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
        reason=failure.reason if failure else "",
        message=failure.message if failure else "",
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
        reason=record.reason,
        message=record.message,
    )


def refusal(refused: Refused) -> pb.Refusal:
    return pb.Refusal(
        reason=refused.reason,
        message=refused.message,
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
    )
    _explain(state, why, sight)
    if book.owner_uid:
        state.fence.CopyFrom(pb.Fence(owner_uid=book.owner_uid, epoch=book.epoch))
    _contents(state, book, sight)
    if board.staging is not None:
        state.staging.CopyFrom(staging(board.staging))
    _swap(state, book, board, now)
    return state


def _explain(state: pb.AgentState, why: NotReady | None, sight: EngineSight) -> None:
    if why is not None:
        state.not_ready_reason = why.reason
        state.not_ready_message = why.message
    if sight.refusal is not None:
        state.incompatible_reason = sight.refusal.reason
        state.incompatible_message = sight.refusal.message


def _contents(state: pb.AgentState, book: Book, sight: EngineSight) -> None:
    serving = loaded(book, sight)
    if serving is not None:
        state.serving.CopyFrom(weights(serving))
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
        model=sight.model,
        baseline=is_baseline(book, sight),
    )


def _attempts(book: Book, index: int) -> pb.Attempts:
    record = book.attempts[index]
    failure = record.failure
    return pb.Attempts(
        digest=record.digest,
        attempts=record.attempts,
        failure_class=failure.failure_class if failure else "",
        reason=failure.reason if failure else "",
        message=failure.message if failure else "",
    )


def _is_paused(board: Board, sight: EngineSight) -> bool:
    return sight.paused or (board.live is not None and board.live.phase in _PAUSED_PHASES)


def _wire_take_out(value: TakeOut) -> pb.TakeOut.ValueType:
    return pb.TAKE_OUT_NONE if value is TakeOut.NONE else pb.TAKE_OUT_ENDPOINT
