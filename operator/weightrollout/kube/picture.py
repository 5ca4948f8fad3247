"""What the rules see of a store: the objects of one namespace, by name, and nothing of another.

A label of one namespace can therefore never select a pod of another: there is no way to ask.
"""

from collections.abc import Iterable, Mapping
from typing import Generic, NamedTuple, Protocol, TypeVar

from weightrollout.kube.client import Json


class Key(NamedTuple):
    """Which object of its kind."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Record(Protocol):
    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def uid(self) -> str: ...
    @property
    def resource_version(self) -> int: ...


R = TypeVar("R", bound=Record)
R_co = TypeVar("R_co", bound=Record, covariant=True)


class Picture(Protocol[R_co]):
    """The objects of one namespace, by name. `learn` and `drop` are told the outcome of our own writes."""

    def get(self, name: str) -> R_co | None: ...
    def all(self) -> Iterable[R_co]: ...
    def learn(self, body: Json) -> None: ...
    def drop(self, name: str, uid: str) -> None: ...


class Whole(Protocol[R_co]):
    """A picture of more than one namespace."""

    def on_shelf(self, namespace: str) -> Mapping[str, R_co]: ...
    def learn(self, body: Json) -> None: ...
    def found_gone(self, key: Key, uid: str) -> None: ...


class Shelf(Generic[R]):
    """One namespace of a store, as it is now. Nothing of another can be read or dropped through it."""

    def __init__(self, store: Whole[R], namespace: str) -> None:
        self._store = store
        self._namespace = namespace

    def get(self, name: str) -> R | None:
        return self._store.on_shelf(self._namespace).get(name)

    def all(self) -> Iterable[R]:
        return self._store.on_shelf(self._namespace).values()

    def learn(self, body: Json) -> None:
        self._store.learn(body)

    def drop(self, name: str, uid: str) -> None:
        self._store.found_gone(Key(self._namespace, name), uid)


def key_of(record: Record) -> Key:
    return Key(record.namespace, record.name)
