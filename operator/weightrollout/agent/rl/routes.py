"""The routes: Dynamo's names below /engine, and vLLM's own beside them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from weightrollout.engine.protocol import Capabilities


class Call(StrEnum):
    PAUSE = "pause_generation"
    RESUME = "resume_generation"
    IS_PAUSED = "is_paused"
    IS_SLEEPING = "is_sleeping"
    GET_VERSION = "get_weight_version"
    SLEEP = "sleep"
    WAKE_UP = "wake_up"
    INIT = "init_weight_transfer_engine"
    START = "start_weight_update"
    START_DRAFT = "start_draft_weight_update"
    UPDATE = "update_weights"
    FINISH = "finish_weight_update"
    SET_VERSION = "update_weight_version"
    WORLD_SIZE = "get_world_size"
    RESET_CACHE = "reset_prefix_cache"


class Needs(StrEnum):
    """What every core of the engine must report."""

    RL = "rl"
    SLEEP = "sleep"
    TRANSFER = "transfer"
    DRAFT = "draft"
    RESET_CACHE = "reset_cache"


@dataclass(frozen=True, slots=True)
class Route:
    call: Call
    name: str  # below /engine/, as Dynamo lists it; "" where it has none
    alias: str  # vLLM's own path
    needs: Needs
    reads: bool = False  # answered at once, whatever runs


ROUTES: Final = (
    Route(Call.PAUSE, "control/pause_generation", "/pause", Needs.RL),
    Route(Call.RESUME, "control/resume_generation", "/resume", Needs.RL),
    Route(Call.IS_PAUSED, "control/is_paused", "/is_paused", Needs.RL, reads=True),
    Route(Call.IS_SLEEPING, "control/is_sleeping", "/is_sleeping", Needs.RL, reads=True),
    Route(Call.GET_VERSION, "control/get_weight_version", "/weight_info", Needs.RL, reads=True),
    Route(Call.SLEEP, "control/sleep", "/sleep", Needs.SLEEP),
    Route(Call.WAKE_UP, "control/wake_up", "/wake_up", Needs.SLEEP),
    Route(
        *(Call.INIT, "update/init_weight_transfer_engine", "/init_weight_transfer_engine"),
        Needs.TRANSFER,
    ),
    Route(Call.START, "update/start_weight_update", "/start_weight_update", Needs.TRANSFER),
    Route(
        *(Call.START_DRAFT, "update/start_draft_weight_update", "/start_draft_weight_update"),
        Needs.DRAFT,
    ),
    Route(Call.UPDATE, "update/update_weights", "/update_weights", Needs.TRANSFER),
    Route(Call.FINISH, "update/finish_weight_update", "/finish_weight_update", Needs.TRANSFER),
    Route(Call.SET_VERSION, "update/update_weight_version", "/update_weight_version", Needs.RL),
    Route(Call.WORLD_SIZE, "", "/get_world_size", Needs.RL, reads=True),
    Route(Call.RESET_CACHE, "", "/reset_prefix_cache", Needs.RESET_CACHE),
)


def methods(route: Route) -> tuple[str, ...]:
    """Of its alias, as vLLM has it; what reads may be asked by any."""
    return ("*",) if route.reads else ("POST",)


def able(capabilities: Capabilities, needs: Needs) -> bool:
    match needs:
        case Needs.RL:
            return capabilities.rl
        case Needs.SLEEP:
            return capabilities.sleep
        case Needs.TRANSFER:
            return capabilities.transfer
        case Needs.DRAFT:
            return capabilities.transfer and capabilities.draft
        case Needs.RESET_CACHE:
            return capabilities.reset_cache


def offered(capabilities: Capabilities) -> tuple[str, ...]:
    """For discovery: sorted, and the same whether it is paused, asleep or neither."""
    return tuple(
        sorted(each.name for each in ROUTES if each.name and able(capabilities, each.needs))
    )
