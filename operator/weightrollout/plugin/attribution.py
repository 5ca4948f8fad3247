"""Which weights answer, as far as the calls tell that pass through this frontend. Pure.

An engine has one label, and only a control call can change it or what it stands for. So between two such
calls it is known; from the first that may touch the weights until one that names them whole it is not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

#: What an engine that was started just now calls its weights.
FIRST: Final = "default"
#: Control calls that leave the weights, and what they are called, as they are.
HARMLESS: Final = frozenset(
    {
        *("/pause", "/resume", "/wake_up", "/abort_requests", "/release_kv_cache_memory"),
        *("/init_weight_transfer_engine", "/shutdown_weight_transfer_engine"),
        *("/reset_prefix_cache", "/reset_mm_cache", "/reset_encoder_cache"),
        *("/start_profile", "/stop_profile"),
    }
)
START: Final = "/start_weight_update"
START_DRAFT: Final = "/start_draft_weight_update"
UPDATE: Final = "/update_weights"
FINISH: Final = "/finish_weight_update"
LABEL: Final = "/update_weight_version"
SLEEP: Final = "/sleep"
#: The bodies that must be read, and where the version is in them.
NAMING: Final = {FINISH: "weight_version", LABEL: "new_version"}


class Session(StrEnum):
    NONE = ""
    TARGET = "target"
    DRAFT = "draft"  # costs speed and no answer


@dataclass(frozen=True, slots=True)
class Moment:
    """What was known at one time. Two that are equal have nothing between them."""

    version: str | None  # None: not known
    changes: int = 0  # that were begun so far


class Attribution:
    def __init__(self) -> None:
        self.now = Moment(FIRST)
        self._session = Session.NONE

    def begins(self, path: str, query: Mapping[str, str]) -> None:
        """A control call that is no mere question, before it is handed on."""
        if path in HARMLESS or self._spares_the_target(path, query):
            return
        self._set(None)

    def ended(self, path: str, *, ok: bool, body: Any) -> None:
        """After its answer. `body`: of the calls in `NAMING`, parsed; None where there was none."""
        if not ok:
            # A failed update closes its session; a failed finish leaves it open.
            self._session = Session.NONE if path == UPDATE else self._session
        elif path == START:
            self._session = Session.TARGET
        elif path == START_DRAFT:
            self._session = Session.DRAFT
        elif path == FINISH:
            self._session = Session.NONE
            if (version := _version(path, body)) is not None:
                self._set(version)
        elif path == LABEL and self._session is not Session.TARGET:
            self._set(_version(path, body))

    def _spares_the_target(self, path: str, query: Mapping[str, str]) -> bool:
        if path == SLEEP:
            return query.get("level", "1") in ("0", "1")  # 2 throws the weights away
        in_draft = self._session is Session.DRAFT
        return path == START_DRAFT or (in_draft and path in (UPDATE, FINISH))

    def _set(self, version: str | None) -> None:
        self.now = Moment(version, self.now.changes + 1)


def shown(begun: Moment, ended: Moment) -> str | None:
    """For a header: one version; or, of an answer that a swap fell into, that of its begin and of its end. None: not known."""
    if begun == ended:
        return begun.version
    if begun.version is None or ended.version is None:
        return None
    return f"{begun.version}, {ended.version}"


def _version(path: str, body: Any) -> str | None:
    """None: none was given, or none that can stand in a header."""
    said = body.get(NAMING[path]) if isinstance(body, dict) else None
    if not isinstance(said, str) or not said or not said.isascii() or not said.isprintable():
        return None
    return None if "," in said else said
