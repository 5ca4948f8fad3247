"""Random calls to an agent, made from the messages of agent.proto: a new field is tested the day it is added."""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from hypothesis import strategies as st

from corpus.rpc import REQUESTS

#: What a field gets most often, so that calls come past the first gate.
USUAL: Final[Mapping[str, st.SearchStrategy[Any]]] = {
    "owner_uid": st.just("cr-uid"),
    "epoch": st.sampled_from(["3", "4"]),
    "uri": st.just("{uri}"),
    "digest": st.just("{digest}"),
    "version": st.just("v2"),
    "txn": st.sampled_from(["t/1", "t/2"]),
    "ttl_seconds": st.just(30.0),
    "deadline_seconds": st.just(20.0),
}
_TEXTS: Final = st.text(max_size=12) | st.sampled_from(
    ["../x", "\0", "a\nb", "sha256:", "default", "file:///%ff", "file://host/"]
)
_DOUBLES: Final = st.sampled_from(["NaN", "Infinity", "-Infinity"]) | st.floats(
    allow_nan=False, allow_infinity=False
)
_INTEGERS: Final = {
    FieldDescriptor.TYPE_INT32: st.integers(-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: st.integers(-(2**63), 2**63 - 1).map(str),
}


def call_lists() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Some calls one after the other, in the form of `corpus.rpc`."""
    calls = [
        st.fixed_dictionaries({"call": st.just(name), "request": _message(kind().DESCRIPTOR)})
        for name, kind in REQUESTS.items()
    ]
    return st.lists(st.one_of(calls), min_size=1, max_size=4)


def _message(descriptor: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {}, optional={field.name: _field(field) for field in descriptor.fields}
    )


def _field(field: Any) -> st.SearchStrategy[Any]:
    one = _one(field)
    if field.name in USUAL and not field.is_repeated:
        one = st.one_of(USUAL[field.name], USUAL[field.name], one)
    return st.lists(one, max_size=3) if field.is_repeated else one


def _one(field: Any) -> st.SearchStrategy[Any]:
    match field.type:
        case FieldDescriptor.TYPE_MESSAGE:
            return _message(field.message_type)
        case FieldDescriptor.TYPE_STRING:
            return _TEXTS
        case FieldDescriptor.TYPE_DOUBLE:
            return _DOUBLES
        case FieldDescriptor.TYPE_BOOL:
            return st.booleans()
        case FieldDescriptor.TYPE_ENUM:
            return st.integers(0, 5)
        case other:
            return _INTEGERS[other]
