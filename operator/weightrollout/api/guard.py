"""What an agent's RL routes ask of a trainer, in the words of its flag and of inject's; `spec.guard` has its own."""

from enum import StrEnum


class Guard(StrEnum):
    STRICT = "strict"
    AUTO_PAUSE = "auto-pause"
    OFF = "off"
