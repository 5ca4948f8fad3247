"""A whole step of a trainer and its orchestrator on an engine with our backend, by every route that it takes."""

from pathlib import Path

from toytrainer import Trainer, named


async def one_step(trainer: Trainer, checkpoint: Path, version: str) -> None:
    """As prime-rl's two processes call: joined unpaused, named after the update, resumed last."""
    said = [
        await trainer.update("init_weight_transfer_engine", init_info=named(checkpoint)),
        await trainer.control("pause_generation", mode="keep", clear_cache=True),
        await trainer.update("start_weight_update"),
        await trainer.update("update_weights", update_info=named(checkpoint)),
        await trainer.update("finish_weight_update", weight_version=None),
        await trainer.update("update_weight_version", new_version=version),
    ]
    assert [each.status for each in said] == [200] * len(said), said
    label = await trainer.control("get_weight_version")
    assert label.body == {"weight_version": version}
    assert (await trainer.control("resume_generation")).status == 200
