"""Ports that stay with a test while the process behind them comes and goes.

A port that was asked for and closed again belongs to nobody: the next listener or any outgoing
connection of this machine may take it before its user binds it, or between two lives of that user.
A socket that is bound with SO_REUSEADDR and never listens keeps it: Linux gives the port to nobody by
itself and refuses it to whoever binds without that option, and lets a server bind it that sets the
option, as they all do.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

_FOR_THIS_PROCESS: Final = ExitStack()


@contextmanager
def kept_ports(count: int, *, address: str = "127.0.0.1") -> Iterator[tuple[int, ...]]:
    """Free ports of one address, for as long as this is open."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for kept in sockets:
            kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            kept.bind((address, 0))
        yield tuple(kept.getsockname()[1] for kept in sockets)


def ports_for_good(count: int) -> tuple[int, ...]:
    """Ports that nobody else gets while this process runs; for what is started a few times only."""
    return _FOR_THIS_PROCESS.enter_context(kept_ports(count))
