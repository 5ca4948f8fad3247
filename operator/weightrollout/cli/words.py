"""How numbers, times and names look on every screen. Pure; the `now` is given."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from rich.cells import cell_len

NARROW: Final = 8  # nothing is cut below this
DIGEST_SIGNS: Final = 19  # "sha256:" and 12 hex digits, enough to tell any two apart


def short(digest: str | None) -> str:
    if not digest:
        return ""
    return digest if len(digest) <= DIGEST_SIGNS else f"{digest[:DIGEST_SIGNS]}.."


def cut(text: str, width: int) -> str:
    """In its middle: what tells names and versions apart is often their end."""
    if cell_len(text) <= width:
        return text
    front = width // 2
    return f"{text[:front]}…{text[len(text) - (width - front - 1) :]}"


def pods(count: int) -> str:
    return f"{count} pod" if count == 1 else f"{count} pods"


def some_of(names: Sequence[str], most: int = 4) -> str:
    """All of a few names; of many the first and the last, and how many there are."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{names[0]}, {names[1]} .. {names[-1]} ({len(names)} pods)"


def size(count: int) -> str:
    if count < 1024:
        return f"{count} B"
    amount = float(count)
    for unit in ("KiB", "MiB"):
        amount /= 1024
        if amount < 1024:
            return f"{amount:.1f} {unit}"
    return f"{amount / 1024:.1f} GiB"


def age(since: str, now: datetime) -> str:
    """The two largest units; "" where the time cannot be read."""
    then = moment(since)
    return "" if then is None else duration(max(int((now - then) / timedelta(seconds=1)), 0))


def moment(text: str) -> datetime | None:
    """None where it cannot be read."""
    try:
        then = datetime.fromisoformat(text)
    except ValueError:
        return None
    return then if then.tzinfo is not None else then.replace(tzinfo=UTC)


def duration(seconds: int) -> str:
    for unit, of, less, of_less in (
        ("d", 86400, "h", 3600),
        ("h", 3600, "min", 60),
        ("min", 60, "s", 1),
    ):
        if seconds >= of:
            rest = seconds % of // of_less
            return f"{seconds // of} {unit}" + (f" {rest} {less}" if rest else "")
    return f"{seconds} s"


def natural(name: str) -> list[tuple[int, str]]:
    """To sort by: chat-2 comes before chat-10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]
