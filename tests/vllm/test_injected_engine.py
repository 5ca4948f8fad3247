"""A real vLLM that is started with what inject put into its container: its flags, its environment, the folder of the init container."""

from pathlib import Path
from typing import Any

from injecting import deployment, injected, pod_spec
from realvllm import families, tiny
from realvllm.client import Client
from realvllm.engine import engine
from realvllm.launch import Launch
from weightrollout.agent.main import main as agent_main
from weightrollout.api import names
from weightrollout.handover import files
from weightrollout.handover.records import EngineReport, read

ANSWER_S = 60.0


def launch_of(container: dict[str, Any], model: Path, volumes: dict[str, Path]) -> Launch:
    """`volumes`: mount path -> folder of this machine."""
    flags = [each for each in container["args"] if not each.startswith("--grpc-port")]
    environment = {each["name"]: each["value"] for each in container["env"]}
    for path, folder in volumes.items():
        environment = {key: each.replace(path, str(folder)) for key, each in environment.items()}
    return Launch(model, backend="", flags=tuple(flags), environment=environment)


async def test_it_serves_and_its_plugin_reports_what_the_agent_needs(tmp_path: Path) -> None:
    checkpoint = tiny.pair(families.FAMILIES["qwen3"]).a
    plain = {
        "name": "vllm",
        "image": "vllm/vllm-openai",
        "command": ["vllm", "serve", str(checkpoint.target)],
    }
    after = pod_spec(injected(deployment(plain)))
    volumes = {
        path: tmp_path / Path(path).name
        for path in (names.MOUNT_STAGING, names.MOUNT_HANDOVER, names.MOUNT_PLUGIN)
    }
    for folder in volumes.values():
        folder.mkdir()
    _, command, folder_of_plugin = after["initContainers"][0]["command"]
    assert agent_main([command, str(volumes[folder_of_plugin])]) == 0

    launch = launch_of(after["containers"][0], checkpoint.target, volumes)
    async with engine(tmp_path, launch) as running:
        client = Client(running.http_url, str(checkpoint.target))
        assert await client.answers(deadline_s=ANSWER_S)
        report = read(EngineReport, files.report(volumes[names.MOUNT_HANDOVER], 0))
        assert report is not None, running.log_tail()
        assert (report.refusal_reason, report.refusal_message) == ("", "")
        assert report.tensors
