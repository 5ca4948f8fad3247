"""From what JSON gives to a record, or a HandoverError that names the place.

Each type is looked at once: a receipt holds hundreds of records, and is read while the engine waits.
"""

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

T = TypeVar("T")

#: Sizes and offsets fit into what a file system and a C call take.
MAX_INT: Final = (1 << 63) - 1
_SHORT: Final = 200


class HandoverError(ValueError):
    """A file or payload that does not follow the contract; the message names what is wrong."""


class _Wrong(Exception):
    """Something in a value is; each container on the way out says where."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.steps: list[str] = []


_Decoder = Callable[[Any], Any]


def decode(kind: type[T], value: Any) -> T:
    """`value` as a record of `kind`; unknown keys, missing keys and wrong types raise HandoverError."""
    try:
        return typing.cast("T", _decoder(typing.cast("Hashable", kind))(value))
    except _Wrong as wrong:
        place = "".join(reversed(wrong.steps))
        raise HandoverError(f"{kind.__name__}{place}: {wrong}") from wrong.__cause__


def short(said: object) -> str:
    """What a file says goes into messages, and a message is for people."""
    text = str(said)
    text = text if len(text) <= _SHORT else f"{text[:_SHORT]}..."
    return text.encode(errors="backslashreplace").decode()


@functools.cache
def _decoder(kind: Hashable) -> _Decoder:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        (some,) = (arm for arm in inner if arm is not type(None))
        decoder = _decoder(some)
        return lambda value: None if value is None else decoder(value)
    if origin is tuple:
        return _tuple(_decoder(inner[0]))
    if origin is dict:
        return _dict(_decoder(inner[1]))
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    if kind is int:
        return _int
    if kind is float:
        return _float
    return _text if kind is str else _instance(kind)


def _tuple(item: _Decoder) -> _Decoder:
    def decoded(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _Wrong("must be a list")
        found: list[Any] = []
        try:
            for each in value:
                found.append(item(each))
        except _Wrong as wrong:
            wrong.steps.append(f"[{len(found)}]")
            raise
        return tuple(found)

    return decoded


def _dict(item: _Decoder) -> _Decoder:
    def decoded(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _Wrong("must be an object")
        found: dict[str, Any] = {}
        for key, each in value.items():
            name = _text(key)
            try:
                found[name] = item(each)
            except _Wrong as wrong:
                wrong.steps.append(f"[{short(key)}]")
                raise
        return found

    return decoded


def _record(kind: Any) -> _Decoder:
    hints = typing.get_type_hints(kind)
    fields = {each.name: _decoder(hints[each.name]) for each in dataclasses.fields(kind)}
    required = {
        each.name
        for each in dataclasses.fields(kind)
        if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
    }

    def decoded(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _Wrong("must be an object")
        if unknown := value.keys() - fields.keys():
            raise _Wrong(f"unknown keys {short(', '.join(sorted(unknown)))}")
        if missing := required - value.keys():
            raise _Wrong(f"missing keys {', '.join(sorted(missing))}")
        name = ""
        try:
            found = {(name := key): fields[key](each) for key, each in value.items()}
        except _Wrong as wrong:
            wrong.steps.append(f".{name}")
            raise
        return kind(**found)

    return decoded


def _instance(kind: Any) -> _Decoder:
    def decoded(value: Any) -> Any:
        if not isinstance(value, kind):
            raise _Wrong(f"must be {kind.__name__}, is {type(value).__name__}")
        return value

    return decoded


def _int(value: Any) -> int:
    if type(value) is not int:
        raise _Wrong(f"must be int, is {type(value).__name__}")
    if abs(value) > MAX_INT:
        raise _Wrong("the number is out of range")
    return value


def _float(value: Any) -> float:
    if type(value) is int:
        return float(_int(value))
    if not isinstance(value, float):
        raise _Wrong(f"must be float, is {type(value).__name__}")
    if not math.isfinite(value):
        raise _Wrong("the number is out of range")
    return value


def _text(value: Any) -> str:
    """JSON can spell half a character, which no message, log or file name can hold."""
    if not isinstance(value, str):
        raise _Wrong(f"must be str, is {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _Wrong("is no Unicode text") from error
    return value
