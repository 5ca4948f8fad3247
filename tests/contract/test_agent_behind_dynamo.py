"""An agent swaps weights through the sidecar that Dynamo ships, and puts the worker back into its routing."""

from pathlib import Path

import checkpoints
from contract.conftest import StartSidecar
from contract.under_test import eventually
from dynamos.sidecar import registered
from onepod import AgentTask, Pod, channel_to
from simulator.process import engine_process


async def test_weights_are_swapped_through_dynamos_own_sidecar(
    dynamo: StartSidecar, tmp_path: Path
) -> None:
    handover, staging = tmp_path / "handover", tmp_path / "staging"
    handover.mkdir()
    staging.mkdir()
    written = {
        name: checkpoints.write_checkpoint(tmp_path / name, seed=seed, arithmetic=True)
        for seed, name in enumerate("ab")
    }
    async with (
        engine_process(model=written["a"], handover=handover, staging=staging) as engine,
        dynamo(engine, "file") as files,
    ):
        agent = AgentTask(
            (
                *(f"--engine-grpc={engine.grpc_target}", f"--engine-http={engine.http_url}"),
                *("--engine-protocol=dynamo", f"--engine-sidecar=http://{engine.sidecar}"),
                *(f"--staging={staging}", f"--handover={handover}"),
            )
        )
        async with channel_to(agent) as stub:
            pod = Pod(agent, tmp_path, staging, written, stub)
            await agent.start()
            try:
                await pod.hello()
                assert (await pod.bring("b", "txn-1")).outcome == "Committed"
            finally:
                await agent.end()

        async def routed() -> bool:
            return registered(files)

        await eventually(routed, what="the worker is in Dynamo's routing")
        state = await engine.state()
    assert state["version"] == "v-b"
    assert state["fingerprint"] == checkpoints.fingerprint(written["b"])
