"""What a scripted core is, and what goes wrong in it. JSON, so that a test can change it while it runs."""

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

#: vllm's default label.
FRESH: str = "default"


@dataclass(frozen=True, slots=True)
class Script:
    """Utility calls are named as the frontend names them: `pause_generation`, `set_weight_version`;
    a `collective_rpc` by the method it runs: `start_weight_update`."""

    # Read once, when the core starts.
    backend: str | None = None  # None: as the engine was started
    paused: bool = False
    version: str = FRESH
    engine_version: str = ""  # "": that of the frontend
    lacks: tuple[str, ...] = ()  # facts that this core does not tell when it registers

    # Read again at every call.
    hangs: tuple[str, ...] = ()  # never answered, never executed
    fails: dict[str, str] = field(default_factory=dict)  # text by call; not executed
    fails_after: dict[str, str] = field(default_factory=dict)  # the same, executed
    dies_at: tuple[str, ...] = ()  # without a word
    gives_up_at: tuple[str, ...] = ()  # says that it is dead, as a core does after an exception

    @classmethod
    def read(cls, path: Path) -> Self:
        """The script at `path`; an absent file is a script in which nothing goes wrong."""
        try:
            entries = json.loads(path.read_bytes())
        except FileNotFoundError:
            return cls()
        known: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in entries.items()
        }
        return cls(**known)

    def write(self, path: Path) -> None:
        """Whole at once: a core that reads meanwhile sees the old or the new one."""
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(dataclasses.asdict(self)))
        unfinished.replace(path)


def path(folder: Path, rank: int) -> Path:
    return folder / f"script-{rank}.json"
