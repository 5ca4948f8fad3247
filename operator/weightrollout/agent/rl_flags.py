"""The RL routes for trainers: flags. Off unless a token file is named."""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weightrollout.agent.rl.calls import DRAIN_S
from weightrollout.api.addresses import with_brackets
from weightrollout.api.guard import Guard
from weightrollout.api.names import DEFAULT_TRAINER_PORT

BIND: Final = f"127.0.0.1:{DEFAULT_TRAINER_PORT}"


@dataclass(frozen=True, slots=True)
class RlAccess:
    token: Path | None = None  # None: there are no such routes
    bind: str = BIND
    guard: Guard = Guard.STRICT
    drain_s: float = DRAIN_S  # of a pause that waits for requests
    drives: bool = False  # base weights stay out of service until an operator says otherwise


def add(parser: argparse.ArgumentParser) -> None:
    asked = parser.add_argument_group("RL routes for trainers")
    asked.add_argument(
        "--trainer-token-file",
        type=Path,
        metavar="FILE",
        help="opens the routes, to whoever brings this token (Authorization: Bearer)",
    )
    asked.add_argument("--trainer-bind", default=BIND, help="HOST:PORT (%(default)s)")
    asked.add_argument(
        "--trainer-guard",
        type=Guard,
        choices=list(Guard),
        default=Guard.STRICT,
        help="strict: an update needs a pause; auto-pause: it brings one; off: as vLLM does"
        " (%(default)s)",
    )
    asked.add_argument(
        "--trainer-drives",
        action="store_true",
        help="base weights stay out of service from the first second on, until an operator says that"
        " spec.driver is Operator; for the pods of a fleet whose spec.driver is Trainer",
    )
    asked.add_argument(
        "--trainer-drain-seconds",
        type=float,
        default=DRAIN_S,
        help="a pause with mode wait gives running requests so long, then it is taken back (%(default)g)",
    )


def take(arguments: dict[str, Any]) -> RlAccess:
    """Out of the parsed arguments, which then no longer have them."""
    return RlAccess(
        token=arguments.pop("trainer_token_file"),
        bind=with_brackets(arguments.pop("trainer_bind")),
        guard=arguments.pop("trainer_guard"),
        drain_s=arguments.pop("trainer_drain_seconds"),
        drives=arguments.pop("trainer_drives"),
    )


def refusal(access: RlAccess) -> str | None:
    if access.token is not None and not access.token.is_file():
        return f"--trainer-token-file {access.token}: no such file; mount the Secret there"
    if not 0 < access.drain_s < math.inf:
        return f"--trainer-drain-seconds {access.drain_s:g}: give more than 0"
    return None
