"""docs/attribution.md joins vLLM's series with the agent's by a query that a real Prometheus takes."""

import re
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from realprometheus import real_prometheus
from toytrainer import fabric
from unit.agent.rl.conftest import OpenPod

PAGE = Path(__file__).parents[4] / "docs" / "attribution.md"
POD = 'namespace="ml",pod="chat-0"'
#: vLLM's name and labels (v1/metrics/loggers.py of 0.32.0), of two cores.
TOKENS = 'vllm:generation_tokens_total{{engine="{core}",model_name="chat",{pod}}} {count}\n'


def of_pod(text: str) -> str:
    """With the labels that a PodMonitor adds."""
    return re.sub(r"(?m)^(weightrollout_engine_info)\{", rf"\1{{{POD},", text)


@pytest.mark.slow
async def test_tokens_are_counted_by_the_version_that_a_trainer_named(
    open_pod: OpenPod, tmp_path: Path
) -> None:
    folder = tmp_path / "prometheus"
    folder.mkdir()
    [query] = re.findall(r"```promql\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    async with open_pod() as (pod, trainer), real_prometheus(folder) as there:
        with fabric() as wire:
            await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
            await trainer.control("pause_generation", mode="keep")
            await trainer.update("start_weight_update")
            await trainer.send(wire, pod.checkpoints["b"])
            assert "weightrollout_engine_info{" not in await pod.metrics(), "nobody can say"
            await trainer.update("finish_weight_update", weight_version="step-7")
            await trainer.control("resume_generation")
        agents = of_pod(await pod.metrics())
        for count in (100, 300):
            tokens = "".join(TOKENS.format(core=core, pod=POD, count=count) for core in (0, 1))
            await there.shows(agents + tokens, f"vllm:generation_tokens_total == {count}")
        await there.shows(agents + tokens, query)
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{there.url}/api/v1/query", params={"query": query}) as reply,
        ):
            result: list[dict[str, Any]] = (await reply.json())["data"]["result"]
        assert [each["metric"] for each in result] == [{"version": "step-7"}]
        assert float(result[0]["value"][1]) > 0
