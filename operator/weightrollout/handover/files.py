"""Where each file of the contract lies, below its volume."""

import re
from pathlib import Path
from typing import Final

from weightrollout.handover.records import TARGET

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]")

IMAGES: Final = "images"
INDEX: Final = "index.json"
#: In the engine's environment: where the two volumes are mounted.
HANDOVER_VARIABLE: Final = "WEIGHTROLLOUT_HANDOVER"
STAGING_VARIABLE: Final = "WEIGHTROLLOUT_STAGING"
#: The same, where its frontend has the guard: the file with the token that it asks for.
GUARD_TOKEN_VARIABLE: Final = "WEIGHTROLLOUT_GUARD_TOKEN_FILE"
EXIT_REQUEST: Final = "exit-request.json"


def safe(txn: str) -> str:
    """A transaction id as part of a file name."""
    return _UNSAFE.sub("_", txn)


def report(handover: Path, rank: int) -> Path:
    return handover / f"report-rank{rank}.json"


def prepared(handover: Path, txn: str, rank: int) -> Path:
    return handover / f"prepared-{safe(txn)}-rank{rank}.json"


def receipt(handover: Path, txn: str, rank: int, *, session: str = TARGET) -> Path:
    which = "" if session == TARGET else f"-{session}"
    return handover / f"receipt-{safe(txn)}{which}-rank{rank}.json"


def is_answer_of(txn: str, name: str) -> bool:
    """Whether a file `prepared` or `receipt` of that name is of this transaction, in any of its cycles."""
    mine = re.escape(safe(txn))  # a cycle is "<txn>~<number>"
    return (
        re.fullmatch(rf"(prepared|receipt)-{mine}(_\d+)?(-[a-z]+)?-rank\d+\.json", name) is not None
    )


def exit_request(handover: Path) -> Path:
    return handover / EXIT_REQUEST


def region(digest: str, plan_id: str) -> str:
    """Folder of an image relative to the staging volume. `digest` is "sha256:<hex>"."""
    return f"{IMAGES}/{digest.removeprefix('sha256:')}/{plan_id}"


def rank_image(region_folder: Path, rank: int) -> Path:
    return region_folder / f"rank{rank}.image"
