"""A simulated engine that starts again cleans up as the plugin of a real one does."""

from pathlib import Path

import checkpoints
from simulator.model import Model
from simulator.plugin import Plugin
from simulator.settings import parse
from weightrollout.handover import files


def test_what_a_killed_engine_had_half_written_is_gone_when_it_starts_again(tmp_path: Path) -> None:
    checkpoints.write_checkpoint(tmp_path / "a", seed=1)
    handover = tmp_path / "handover"
    handover.mkdir()
    answer = files.prepared(handover, "uid/v2/pod/1", 0)
    answer.with_name(f".{answer.name}.4711.tmp").write_text('{"schema":')

    settings = parse(
        [f"--model={tmp_path / 'a'}", f"--handover={handover}", f"--staging={tmp_path}"]
    )
    Plugin(settings, Model.load(settings.model)).announce()

    assert [path.name for path in handover.iterdir()] == ["report-rank0.json"]
