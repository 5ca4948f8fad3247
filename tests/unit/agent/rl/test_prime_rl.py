"""prime-rl's trainer and orchestrator, two processes on one worker."""

from pathlib import Path

from simulator.model import Model
from toytrainer import update_info
from twohands import drive
from unit.agent.rl.conftest import OpenPod


async def test_trainer_and_orchestrator_are_two_processes_and_reads_never_wait_for_an_update(
    open_pod: OpenPod, tmp_path: Path
) -> None:
    async with open_pod() as (pod, trainer):
        await pod.engine.set_faults({"call": "UpdateWeights", "do": "slow", "seconds": 0.7})
        steps = [
            {
                "version": version,
                "update_info": update_info(Model.load(pod.checkpoints[name])),
                "checkpoint": str(pod.checkpoints[name]),
            }
            for version, name in (("1", "b"), ("2", "c"))
        ]
        marks = tmp_path / "marks"
        marks.mkdir()
        heard = await drive(trainer.url, marks, steps)
        for before, version in (("default", "1"), ("1", "2")):
            assert set(heard[version]) == {before, version}
            assert len(heard[version]) > 3, "while the engine was in the update"
        assert await pod.readyz() == (200, "")
        assert await pod.answers_with("c")
        assert (await pod.state()).serving.version == "2"
        assert (await pod.engine.state())["unguardedUpdates"] == 0
