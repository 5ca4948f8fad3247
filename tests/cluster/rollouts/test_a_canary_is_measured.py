"""A canary on the real API server, judged by a service and by a real Prometheus; the operator dies meanwhile."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess, OperatorRun
from fleet.world import World
from http_service import Service, answer, service
from realprometheus import RealPrometheus, real_prometheus

pytestmark = pytest.mark.usefixtures("fleet")

SOON: Final = 60.0
YES: Final = answer('{"result": "Successful"}')
KEY: Final = "0123456789abcdef0123456789abcdef"


@pytest.fixture(scope="module")
async def judge() -> AsyncIterator[Service]:
    async with service(YES) as found:
        yield found


@pytest.fixture(scope="module")
async def prometheus(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[RealPrometheus]:
    async with real_prometheus(tmp_path_factory.mktemp("prometheus")) as found:
        yield found


@pytest.fixture(scope="module")
async def operator(
    world: World, judge: Service, prometheus: RealPrometheus
) -> AsyncIterator[OperatorProcess]:
    key = world.folder / "key"
    key.write_text(f"{KEY}\n")
    flags = (
        f"--analysis-host=127.0.0.1:{judge.port}",
        f"--prometheus-address={prometheus.url}",
        f"--webhook-key-file={key}",
    )
    process = await world.operator(how=OperatorRun(flags=flags))
    yield process
    await process.stop()


async def _publish(
    world: World, written: dict[str, Any], version: str, analysis: dict[str, Any]
) -> None:
    weights = {"version": version, "uri": written[version].uri}
    steps = [{"updated": 1}, {"analysis": {"intervalSeconds": 1, **analysis}}]
    policy = {"strategy": {"steps": steps}, "swap": {"takeOut": "None", "drainSeconds": 0}}
    await world.apply(weight_rollout("chat", weights, **policy))


async def test_service_that_is_content_lets_the_fleet_follow(
    world: World, fleet: FleetSpec, written: dict[str, Any], judge: Service
) -> None:
    await _publish(world, written, "b", {"webhook": {"url": judge.url}, "count": 2})
    status = await world.until_phase("chat", "Complete", SOON)
    (analysis,) = status["analysis"]
    assert (analysis["outcome"], analysis["successful"]) == ("Successful", 2)

    first, second = judge.heard
    said = json.loads(first.body)
    assert (said["version"], said["previousVersion"]) == ("b", "default")
    assert len(said["pods"]) == len(said["previousPods"]) == 1
    assert [json.loads(each.body)["measurement"] for each in (first, second)] == [1, 2]
    text = first.headers["x-weightrollout-timestamp"].encode() + b"." + first.body
    digest = hmac.new(KEY.encode(), text, hashlib.sha256).hexdigest()
    assert first.headers["x-weightrollout-signature"] == f"sha256={digest}"


async def test_prometheus_that_shows_failures_brings_the_canary_back(
    world: World, fleet: FleetSpec, written: dict[str, Any], prometheus: RealPrometheus
) -> None:
    await prometheus.shows('failed{version="b"} 0\nfailed{version="c"} 7\n', "failed")
    query = 'failed{version="$(version)"} - scalar(failed{version="$(previousVersion)"})'
    await _publish(world, written, "c", {"prometheus": {"query": query, "max": 1}})
    status = await world.until_phase("chat", "RolledBack", SOON)
    (analysis,) = status["analysis"]
    assert (analysis["outcome"], analysis["measurements"][0]["value"]) == ("Failed", 7)
    assert status["target"]["version"] == "b"
    assert "AnalysisFailed" in status["message"]


async def test_new_operator_goes_on_where_the_one_that_died_was(
    world: World,
    fleet: FleetSpec,
    written: dict[str, Any],
    judge: Service,
    operator: OperatorProcess,
) -> None:
    judge.heard.clear()
    asked = {"webhook": {"url": judge.url}, "count": 3, "intervalSeconds": 3}
    await _publish(world, written, "d", asked)
    await world.until(
        "chat",
        lambda status: any(each.get("successful") == 1 for each in status.get("analysis", ())),
        SOON,
        "one answer is in the status",
    )
    operator.kill()
    await operator.ended()
    operator.start()
    status = await world.until_phase("chat", "Complete", SOON)
    (analysis,) = status["analysis"]
    assert (analysis["outcome"], analysis["successful"]) == ("Successful", 3)
    numbers = [json.loads(each.body)["measurement"] for each in judge.heard]
    assert numbers.count(1) == 1, "what is in the status is not asked again"
    assert numbers == sorted(numbers)


async def test_host_that_nobody_allowed_makes_a_person_decide(
    world: World, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    elsewhere = {"webhook": {"url": "http://127.0.0.1:1/"}, "inconclusiveLimit": 0}
    await _publish(world, written, "a", elsewhere)
    status = await world.until_phase("chat", "Paused", SOON)
    assert status["hold"]["reason"] == "AnalysisInconclusive"
    assert "--analysis-host 127.0.0.1:1" in status["hold"]["message"]
    assert status["updated"] == "1/2"
