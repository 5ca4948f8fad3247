"""A body, or a query where vLLM has one, as a checked request. `null` is as good as absent, other keys are ignored.

What is wrong with it is found here, before anything is touched.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from weightrollout.agent.rl.routes import Call
from weightrollout.api.names import BASELINE_VERSION
from weightrollout.api.spec import DIGEST_PATTERN
from weightrollout.engine.protocol import PauseWay
from weightrollout.handover.records import BACKEND

TAGS: Final = ("weights", "kv_cache", "scheduling")
MAX_LEVEL: Final = 2
RESETS: Final = ("reset_running_requests", "reset_external")
#: What an engine with our own backend is told, in init_info and in update_info.
URI: Final = "uri"
DIGEST: Final = "digest"


class Invalid(Exception):
    """The message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    uri: str  # as spec.weights.uri
    digest: str = ""  # "": whatever lies there


@dataclass(frozen=True, slots=True)
class Wish:
    call: Call
    way: PauseWay = PauseWay.ABORT
    clear_cache: bool | None = None  # None: as the engine does without it, which clears
    level: int = 1
    tags: tuple[str, ...] = ()  # none: all
    payload: bytes = b""  # JSON object, as the engine takes it
    checkpoint: Checkpoint | None = None  # of that, where it is ours to read; None: it names none
    version: str | None = None
    running: bool = False  # preempt what runs, so that its cache can be emptied
    external: bool = False  # of the KV connector, too


def body_of(raw: bytes) -> Any:
    """An empty body is an empty object. Raises Invalid."""
    if not raw.strip():
        return {}
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as wrong:
        raise Invalid(f"invalid JSON: {wrong}") from wrong


def from_query(query: Mapping[str, str], tags: list[str]) -> dict[str, Any]:
    """As vLLM's /pause, /sleep, /wake_up and /reset_prefix_cache take their fields."""
    said: dict[str, Any] = {key: query[key] for key in ("mode",) if key in query}
    for key in ("clear_cache", *RESETS):
        if key in query:
            said[key] = _truth(query[key])
    if "level" in query:
        said["level"] = int(query["level"]) if query["level"].isdecimal() else query["level"]
    if tags:
        said["tags"] = tags
    return said


def wish_of(call: Call, body: Any) -> Wish:
    """Raises Invalid."""
    if not isinstance(body, dict):
        raise Invalid(f"the body of {call} must be a JSON object")
    match call:
        case Call.PAUSE:
            return Wish(call, way=_way(body), clear_cache=_boolean(body, "clear_cache"))
        case Call.SLEEP:
            return Wish(call, way=_way(body), level=_level(body))
        case Call.WAKE_UP:
            return Wish(call, tags=_tags(body))
        case Call.INIT | Call.UPDATE:
            return Wish(call, payload=_object(body, _info(call)))
        case Call.FINISH:
            version = body.get("weight_version")
            return Wish(call, version=None if version is None else _version(version))
        case Call.SET_VERSION:
            return Wish(call, version=_version(body.get("new_version"), "new_version"))
        case Call.RESET_CACHE:
            running, external = (_boolean(body, name) or False for name in RESETS)
            return Wish(call, running=running, external=external)
        case _:
            return Wish(call)


def naming(wish: Wish) -> Wish:
    """Of an engine with our own backend, to which the payload names a checkpoint. Raises Invalid."""
    if wish.call not in (Call.INIT, Call.UPDATE):
        return wish
    what, info = _info(wish.call), json.loads(wish.payload)
    if wish.call is Call.INIT and not info:
        return wish
    if strange := sorted(info.keys() - {URI, DIGEST}):
        raise Invalid(
            f"`{what}` of backend {BACKEND} is the `{URI}` of a checkpoint, and its `{DIGEST}`; got"
            f" {_shown(strange[0])}"
        )
    uri, digest = info.get(URI), info.get(DIGEST) or ""
    if not isinstance(uri, str) or not uri.strip():
        raise Invalid(f"`{what}` needs the `{URI}` of a checkpoint; got {_shown(uri)}")
    if not isinstance(digest, str) or (digest and not re.fullmatch(DIGEST_PATTERN, digest)):
        raise Invalid(f"`{DIGEST}` must be sha256:<64 hex digits>; got {_shown(digest)}")
    return replace(wish, checkpoint=Checkpoint(uri, digest))


def _info(call: Call) -> str:
    return "init_info" if call is Call.INIT else "update_info"


def _truth(text: str) -> Any:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)


def _way(body: dict[str, Any]) -> PauseWay:
    mode = body.get("mode")
    if mode is None:
        return PauseWay.ABORT
    try:
        return PauseWay(mode)
    except ValueError:
        raise Invalid(f"mode must be abort, wait or keep; got {_shown(mode)}") from None


def _boolean(body: dict[str, Any], name: str) -> bool | None:
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise Invalid(f"`{name}` must be a boolean; got {_shown(value)}")


def _level(body: dict[str, Any]) -> int:
    """vLLM does not check it, and takes any other level for one that discards the weights."""
    value = body.get("level")
    if value is None:
        return 1
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_LEVEL:
        raise Invalid(f"`level` must be one of 0, 1, or 2; got {_shown(value)}")
    return value


def _tags(body: dict[str, Any]) -> tuple[str, ...]:
    """vLLM answers an unknown one with success, and wakes nothing."""
    value = body.get("tags")
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Invalid(f"`tags` must be a list; got {_shown(value)}")
    for tag in value:
        if tag not in TAGS:
            raise Invalid(
                f"wake_up tag must be weights, kv_cache, or scheduling; got {_shown(tag)}"
            )
    return tuple(dict.fromkeys(value))


def _object(body: dict[str, Any], name: str) -> bytes:
    value = body.get(name)
    if value is None:
        raise Invalid(f"missing `{name}` JSON object")
    if not isinstance(value, dict):
        raise Invalid(f"`{name}` must be a JSON object; got {_shown(value)}")
    return json.dumps(value, separators=(",", ":")).encode()


def _version(value: Any, name: str = "weight_version") -> str:
    if not isinstance(value, str) or not value.strip():
        raise Invalid(f"missing non-empty `{name}` string")
    if value == BASELINE_VERSION:
        raise Invalid(f"`{name}` {value} is what an engine starts with: give it another name")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}.."
