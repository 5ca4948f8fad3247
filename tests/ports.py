"""Ports that stay with a test while the process behind them comes and goes.

A port that was asked for and closed again belongs to nobody: the next listener or any outgoing
connection of this machine may take it before its user binds it, or between two lives of that user.
A socket that is bound with SO_REUSEADDR and never listens keeps it: Linux gives the port to nobody by
itself and refuses it to whoever binds without that option, and lets a server bind it that sets the
option, as they all do.
"""

import socket
from types import TracebackType
from typing import Self

_FOR_THIS_PROCESS: list["KeptPorts"] = []


class KeptPorts:
    """`numbers` of free ports of one address, until `close`."""

    def __init__(self, count: int, *, address: str = "127.0.0.1") -> None:
        self._sockets = [socket.socket() for _ in range(count)]
        for kept in self._sockets:
            kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            kept.bind((address, 0))
        self.numbers: tuple[int, ...] = tuple(kept.getsockname()[1] for kept in self._sockets)

    def close(self) -> None:
        for kept in self._sockets:
            kept.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def ports_for_good(count: int) -> tuple[int, ...]:
    """Ports that nobody else gets while this process runs; for what is started a few times only."""
    kept = KeptPorts(count)
    _FOR_THIS_PROCESS.append(kept)
    return kept.numbers
