"""What can happen to a transaction. Plain data; the driver makes them, the machine takes them."""

from dataclasses import dataclass
from enum import Enum, auto

from weightrollout.swap.records import Answer, Failure


class Time(Enum):
    IN_TIME = auto()
    LATE = auto()  # the attempt's deadline has passed: the target is given up
    LEAVING = auto()  # the pod is ending, and nothing was changed yet: it stays so
    OVER = auto()  # and the engine could not be read back for the whole grace after it


@dataclass(frozen=True, slots=True)
class Answered:
    """The call was answered well."""


@dataclass(frozen=True, slots=True)
class Failed:
    answer: Answer  # not OK
    failure: Failure


@dataclass(frozen=True, slots=True)
class Saw:
    """The engine was read back."""

    instance: str
    paused: bool
    version: str


@dataclass(frozen=True, slots=True)
class Blind:
    """The engine could not be read back."""

    message: str


Event = Answered | Failed | Saw | Blind
