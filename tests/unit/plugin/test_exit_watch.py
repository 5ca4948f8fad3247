"""Only a request that names this very process ends it; any other is taken away, so that it meets nobody later."""

import asyncio
from pathlib import Path

import pytest

from localcluster.waiting import eventually
from weightrollout.handover import files, records
from weightrollout.handover.records import ExitRequest
from weightrollout.plugin import exit_watch

SOON_S = 30.0


class Ended(Exception):
    """Instead of the end of this test run."""


async def test_process_ends_when_it_is_named_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end() -> None:
        raise Ended

    monkeypatch.setattr(exit_watch, "end", end)
    monkeypatch.setattr(exit_watch, "POLL_S", 0.005)
    path = files.exit_request(tmp_path)
    watching = asyncio.create_task(asyncio.to_thread(exit_watch._watch, tmp_path, "engine-2"))
    records.write(path, ExitRequest("engine-1", "Poisoned"))
    await eventually(lambda: not path.exists(), SOON_S, "the other one's request is removed")
    path.write_text("{")
    await eventually(lambda: not path.exists(), SOON_S, "what nobody understands is removed")
    assert not watching.done()
    records.write(path, ExitRequest("engine-2", "Poisoned"))
    async with asyncio.timeout(SOON_S):
        with pytest.raises(Ended):
            await watching
    assert not path.exists()
