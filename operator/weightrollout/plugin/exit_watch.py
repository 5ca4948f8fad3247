"""End this engine when the agent asks this very process to: the way out when a swap cannot be undone."""

import logging
import os
import signal
import threading
from pathlib import Path
from typing import Final

from weightrollout.handover import files, records
from weightrollout.handover.records import ExitRequest, HandoverError

POLL_S: Final = 0.25

log = logging.getLogger(__name__)


def watch(handover: Path, instance: str) -> None:
    """Look for requests for ever, on a thread."""
    threading.Thread(
        target=_watch, args=(handover, instance), name="weightrollout-exit", daemon=True
    ).start()


def _watch(handover: Path, instance: str) -> None:
    path = files.exit_request(handover)
    pause = threading.Event()
    while not pause.wait(POLL_S):
        try:
            request = records.read(ExitRequest, path)
        except HandoverError as error:
            log.warning("weightrollout: %s ignored: %s", path.name, error)
            path.unlink(missing_ok=True)
            continue
        except OSError as error:
            log.warning("weightrollout: %s: %s", path.name, error)
            continue
        if request is None:
            continue
        path.unlink(missing_ok=True)  # one for an earlier process must not meet a later one
        if request.instance == instance:
            log.warning("weightrollout: this engine ends: %s", request.reason)
            end()


def end() -> None:
    """The worker dies, and with it the engine: vLLM ends when one of its processes does."""
    os.kill(os.getpid(), signal.SIGKILL)
