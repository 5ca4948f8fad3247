"""What a trainer has done to the engine through the agent's RL routes, and not undone yet. Journaled as JSON.

An engine that is held takes no swap of an operator's, and answers no probe with 200.
"""

from dataclasses import dataclass
from typing import Final

from weightrollout.api.names import TRAINER_REVISION
from weightrollout.swap.records import Content

TARGET: Final = "target"
DRAFT: Final = "draft"


@dataclass(frozen=True, slots=True)
class Hold:
    """Each field is written before the call that makes it true, so it errs to the side of more."""

    instance: str  # the engine process; on another one it means nothing
    paused: bool = False
    by_agent: bool = False  # that pause is the guard's own, so it ends it too
    asleep: tuple[str, ...] = ()  # memory tags
    session: str = ""  # TARGET or DRAFT while an update session is open
    updates: int = 0  # that this session has taken
    incomplete: tuple[str, ...] = ()  # models that are not whole until they are sent again
    unnamed: bool = False  # whole weights that nobody has given a version
    calling: str = ""  # the call under way; found after a restart: nobody knows how it ended
    in_service: bool = False  # the guard is off: requests go on through an update
    draining: bool = (
        False  # a pause by `wait` whose end nobody heard: the engine says paused, and runs requests
    )

    @property
    def is_over(self) -> bool:
        """Nothing is left that the trainer would have to undo."""
        open_ = self.session or self.calling or self.unnamed
        return not (self.paused or self.asleep or self.incomplete or open_)

    @property
    def takes_out(self) -> bool:
        """No request should come to this engine."""
        updating = self.session and not self.in_service
        return bool(self.paused or self.asleep or self.incomplete or updating)

    @property
    def hides_weights(self) -> bool:
        """Nobody can say what is loaded."""
        updating = self.session and not self.in_service
        return bool(self.incomplete or self.unnamed or updating)

    @property
    def words(self) -> str:
        """For people, the worst first."""
        if self.incomplete:
            return f"its {' and '.join(self.incomplete)} weights are incomplete: send them again"
        if self.session:
            return f"an update of its {self.session} weights is open"
        if self.asleep:
            return f"its {' and '.join(self.asleep)} memory sleeps"
        return "it is paused" if self.paused else f"{self.calling or 'a call'} is under way"


def from_trainer(version: str) -> Content:
    return Content(TRAINER_REVISION, version)
