"""Exit codes, the same for every command; each command's help says which it uses and why."""

from enum import IntEnum

from weightrollout.cli.view import Outcome


class Exit(IntEnum):
    COMPLETE = 0
    STALLED = 1
    REFUSED = 2  # wrong usage, not found, no access; also what the argument parser exits with
    UNDER_WAY = 3
    INTERRUPTED = 130  # Ctrl-C, as a shell reports SIGINT


def exit_of(outcome: Outcome) -> Exit:
    match outcome:
        case Outcome.COMPLETE:
            return Exit.COMPLETE
        case Outcome.STALLED:
            return Exit.STALLED
        case Outcome.UNDER_WAY:
            return Exit.UNDER_WAY
