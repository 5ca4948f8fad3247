"""Give each pod of a node a loopback address of its own; nodes on one machine never share a range.

A node claims 127.N.0.0/16 for N in 64..250 by holding an abstract unix socket of that name: the kernel frees it when the node ends
in any way. Linux answers on all of 127.0.0.0/8 without further set-up.
"""

from __future__ import annotations

import random
import socket
from typing import Final

RANGES: Final = range(64, 251)
LAST: Final = 65534


class NoRangeLeft(Exception):
    """All ranges are claimed by other nodes on this machine."""


class Addresses:
    """The addresses of one node."""

    def __init__(self) -> None:
        """Claim a range; NoRangeLeft when there is none."""
        for number in random.sample(RANGES, len(RANGES)):
            claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                claim.bind(f"\0localcluster-node-127.{number}")
            except OSError:
                claim.close()
                continue
            self._claim, self._number = claim, number
            break
        else:
            raise NoRangeLeft
        self._last = 0

    def next(self) -> str:
        """An address not given out for the longest time."""
        self._last = self._last % LAST + 1
        return f"127.{self._number}.{self._last // 256}.{self._last % 256}"

    def release(self) -> None:
        """Give the range back."""
        self._claim.close()
