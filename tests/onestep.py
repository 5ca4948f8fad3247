"""A whole step of a trainer and its orchestrator on an engine with our backend, by every route that it takes.

The image lies in the pod's own volumes, which this trainer shares.
"""

import json
from pathlib import Path
from typing import Final

from contract.weights import PlannedWeights
from localcluster.waiting import eventually
from toytrainer import Trainer

SOON: Final = 60.0


async def one_step(
    trainer: Trainer, weights: PlannedWeights, checkpoint: Path, version: str
) -> None:
    """As prime-rl's two processes call: joined unpaused, named after the update, resumed last."""
    info = weights.staged(checkpoint)
    begin = json.loads(weights.init_payload(info))
    said = [await trainer.update("init_weight_transfer_engine", init_info=begin)]
    await eventually(lambda: weights.prepared(info), SOON, "the engine has mapped them")
    said += [
        await trainer.control("pause_generation", mode="keep", clear_cache=True),
        await trainer.update("start_weight_update"),
        await trainer.update(
            "update_weights", update_info=json.loads(weights.update_payload(info))
        ),
        await trainer.update("finish_weight_update", weight_version=None),
        await trainer.update("update_weight_version", new_version=version),
    ]
    assert [each.status for each in said] == [200] * len(said), said
    label = await trainer.control("get_weight_version")
    assert label.body == {"weight_version": version}
    assert (await trainer.control("resume_generation")).status == 200
