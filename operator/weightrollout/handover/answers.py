"""What earlier processes of one rank left in the handover volume."""

from pathlib import Path

from weightrollout.handover import files


def remove_old(handover: Path, rank: int) -> None:
    """At the start of a process, before it writes; the other ranks remove their own. Raises OSError.

    A process that was killed while it wrote has left a temporary file, with an id that is never used again.
    """
    handover.mkdir(parents=True, exist_ok=True)
    if rank == 0:
        files.exit_request(handover).unlink(missing_ok=True)
    for pattern in (
        f"report-rank{rank}.json",
        f"prepared-*-rank{rank}.json",
        f"receipt-*-rank{rank}.json",
    ):
        for path in (*handover.glob(pattern), *handover.glob(f".{pattern}.*.tmp")):
            path.unlink(missing_ok=True)
