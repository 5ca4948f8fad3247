"""Development mode opens the RL routes on the HTTP port of vLLM's Rust frontend, too, whatever guards vllm.Control."""

from pathlib import Path

import pytest

from onepod import Refusal, one_pod
from statuses import HOST, http_port, saying
from weightrollout.agent.adapters import door_of
from weightrollout.agent.exposure_http import PROBES
from weightrollout.agent.settings import check, parse

PATHS = sorted({path for _, path, _, _ in PROBES})


async def found(folder: Path, port: int, *flags: str) -> tuple[str | None, bool]:
    """Of an agent whose control port is closed: why swaps are refused, and whether that is certain."""
    volumes = (f"--staging={folder}", f"--handover={folder}")
    engine = ("--engine-grpc=127.0.0.2:1", f"--engine-http=http://{HOST}:{port}")
    settings = parse([*volumes, *engine, f"--pod-ip={HOST}", *flags])
    check(settings)
    refusal, certain = await door_of(settings).ask_at(HOST)
    return (refusal.message if refusal is not None else None), certain


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "flags", [(), ("--engine-protocol=dynamo", "--engine-sidecar=http://127.0.0.2:1")]
)
async def test_route_that_lets_a_neighbour_through_is_exposed_beside_a_closed_control_port(
    tmp_path: Path, path: str, flags: tuple[str, ...]
) -> None:
    async with http_port(saying(404, but={path: 400})) as port:
        why, certain = await found(tmp_path, port, *flags)
        assert certain
        assert why is not None
        for word in (path, f"{HOST}:{port}", "VLLM_SERVER_DEV_MODE", "--host=127.0.0.1"):
            assert word in why


async def test_engine_without_development_mode_is_closed(tmp_path: Path) -> None:
    async with http_port(saying(404)) as port:
        assert await found(tmp_path, port) == (None, True)


async def test_what_was_acknowledged_is_not_tried(tmp_path: Path) -> None:
    settings = parse(
        [
            *(f"--staging={tmp_path}", f"--handover={tmp_path}", f"--pod-ip={HOST}"),
            "--acknowledge-exposed-control-port",
        ]
    )
    assert door_of(settings).addresses == ()


@pytest.mark.slow
async def test_agent_of_an_engine_in_development_mode_stages_nothing_and_says_why(
    tmp_path: Path,
) -> None:
    async with http_port(saying(404, but={"/pause": 400})) as port:
        flags = (f"--engine-http=http://{HOST}:{port}", f"--pod-ip={HOST}")
        async with one_pod(tmp_path, address="127.0.0.2", agent_flags=flags) as pod:
            await pod.hello()
            state = await pod.until(lambda it: it.incompatible_reason != "")
            assert state.incompatible_reason == "ControlPortExposed"
            assert "/pause" in state.incompatible_message
            with pytest.raises(Refusal, match="ControlPortExposed"):
                await pod.stage("b")
