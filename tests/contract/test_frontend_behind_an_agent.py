"""The real frontend asks who calls: its agent swaps, probes are relayed, and a neighbour gets no answer."""

from pathlib import Path

import aiohttp
import pytest

from contract.conftest import StartFrontend
from contract.papers import NAME, write_papers
from contract.subjects import Pair
from contract.under_test import CALL_S
from onepod import AgentTask, Pod, channel_to
from weightrollout.api import names
from weightrollout.engine.errors import EngineUnreachable
from weightrollout.engine.vllm_grpc import VllmGrpc

HOST = "127.0.0.1"


async def status_of(pod: Pod, path: str) -> int:
    url = f"http://{pod.agent.host}:{names.DEFAULT_HTTP_PORT}{path}"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status


@pytest.mark.slow
async def test_agent_with_a_certificate_swaps_and_a_neighbour_without_one_is_refused(
    frontend: StartFrontend, simulated_pair: Pair, tmp_path: Path
) -> None:
    """The pod's address is the one that the frontend listens at, and it is closed all the same."""
    for name in ("staging", "handover", "papers"):
        (tmp_path / name).mkdir()
    volumes = {name: tmp_path / name for name in ("staging", "handover")}
    papers = write_papers(tmp_path / "papers")
    options = papers.engine_flags(asks_who_calls=True)
    async with frontend(model=simulated_pair.a, options=options, **volumes) as process:
        certificate, key = papers.pair("agent")
        flags = (
            f"--engine-grpc={process.grpc_target}",
            f"--engine-http={process.http_url.replace('http:', 'https:')}",
            *(f"--{name}={path}" for name, path in volumes.items()),
            *(f"--engine-ca={papers.folder / 'ca.pem'}", f"--engine-server-name={NAME}"),
            *(f"--engine-certificate={certificate}", f"--engine-key={key}", f"--pod-ip={HOST}"),
        )
        agent = AgentTask(flags)
        async with channel_to(agent) as stub:
            checkpoints = {"a": simulated_pair.a, "b": simulated_pair.b}
            pod = Pod(agent, tmp_path, volumes["staging"], checkpoints, stub)
            await agent.start()
            try:
                await pod.hello()
                assert (await pod.until(lambda state: state.ready)).incompatible_reason == ""
                assert not (await pod.stage("b")).reason
                await pod.reserve("b")
                assert (await pod.swap("b", prompts=[])).outcome == "Committed"
                for path in ("/readyz", "/livez", "/startupz"):
                    assert await status_of(pod, path) == 200, path
            finally:
                await agent.end()
        for tls in (None, papers.tls(), papers.tls(agent="stranger")):
            neighbour = VllmGrpc(process.grpc_target, tls=tls)
            with pytest.raises(EngineUnreachable):
                await neighbour.info(deadline_s=CALL_S)
            await neighbour.close()
