"""The real Prometheus gives what we think it gives, and a canary is judged by it."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
from yarl import URL

from laterclock import LaterClock
from planning.worlds import world_of
from realprometheus import RealPrometheus, real_prometheus
from weightrollout.api.reasons import MeasurementReason as Why
from weightrollout.api.spec import Step, Strategy
from weightrollout.api.status import AnalysisOutcome, Phase
from weightrollout.controller.measuring.analyst import Analyst
from weightrollout.controller.measuring.call import Unanswered
from weightrollout.controller.measuring.hosts import only
from weightrollout.controller.measuring.prometheus import query
from weightrollout.rollout.actions import Measure
from weightrollout.rollout.fleet import Measurement
from weightrollout.rollout.simulate import ToyWorld

pytestmark = pytest.mark.slow

SHARE = (
    'sum(failed{pod=~"$(pods)",version="$(version)"})'
    ' / sum(requests{pod=~"$(pods)",version="$(version)"})'
)


def exposed(**failed: int) -> str:
    """Of pods with a hundred requests each; "chat_0" is the pod chat-0, at version b."""
    lines = []
    for name, count in failed.items():
        labels = f'{{pod="{name.replace("_", "-")}",version="b"}}'
        lines += [f"failed{labels} {count}", f"requests{labels} 100"]
    return "\n".join(lines) + "\n"


async def test_it_answers_as_we_read_it(tmp_path: Path) -> None:
    async with real_prometheus(tmp_path) as there:
        await there.shows(exposed(chat_0=1, chat_1=2), "failed")

        async def value(text: str) -> float:
            url = URL(there.url)
            return await query(only(url), url, text)

        async def why(text: str) -> Why:
            with pytest.raises(Unanswered) as nothing:
                await value(text)
            return nothing.value.reason

        assert await value("sum(failed)") == 3
        assert await value('failed{pod="chat-1"}') == 2
        assert await value("scalar(sum(failed)) / 2") == 1.5
        assert await why("failed") is Why.SEVERAL_SERIES
        assert await why('failed{pod="gone"}') is Why.NO_DATA
        assert await why("0 / 0") is Why.NOT_A_NUMBER
        assert await why("sum(failed) / 0") is Why.NOT_A_NUMBER
        assert await why("scalar(failed)") is Why.NOT_A_NUMBER
        assert await why("failed[1m]") is Why.NOT_UNDERSTOOD
        assert await why('"text"') is Why.NOT_UNDERSTOOD
        assert await why("sum(failed") is Why.QUERY_REFUSED


@dataclass
class AskedForReal(ToyWorld):
    """Its questions wait for whoever asks them."""

    asked: Measure | None = None

    def _measure(self, action: Measure) -> None:
        self.asked = action


def canary_of(updated: int = 1, **prometheus: Any) -> AskedForReal:
    """Asks once the level is reached; one of 0 is asked before the first pod."""
    analysis = {
        "prometheus": {"query": SHARE, "max": 0.05, **prometheus},
        "intervalSeconds": 1,
        "count": 2,
        "inconclusiveLimit": 0,
    }
    levels = [{"updated": updated}] if updated else []
    steps = tuple(Step.model_validate(each) for each in (*levels, {"analysis": analysis}))
    made = world_of("b", 3, on="a", strategy=Strategy(max_unavailable=1, steps=steps))
    return AskedForReal(**{each.name: getattr(made, each.name) for each in fields(ToyWorld)})


async def until_it_ended(world: AskedForReal, there: RealPrometheus) -> AnalysisOutcome:
    analyst = Analyst(prometheus=URL(there.url))
    plan = world.one_pass()
    while plan.status.phase is Phase.PROGRESSING and (
        not plan.status.analysis or plan.status.analysis[0].outcome is AnalysisOutcome.RUNNING
    ):
        assert world.advance()
        if world.asked is not None:
            world.measurement = await _answer(analyst, world.asked, world.now)
            world.asked = None
        plan = world.one_pass()
    return plan.status.analysis[0].outcome


async def _answer(analyst: Analyst, asked: Measure, now: float) -> Measurement:
    found = await analyst.measure(asked, "uid", LaterClock())
    return Measurement(found.analysis, found.number, now, found.value, found.said, found.reason)


async def test_a_canary_is_judged_by_its_own_pods_alone(tmp_path: Path) -> None:
    async with real_prometheus(tmp_path) as there:
        await there.shows(exposed(chat_0=1, chat_1=99, chat_2=99), 'failed{pod="chat-2"}')
        assert await until_it_ended(canary_of(), there) is AnalysisOutcome.SUCCESSFUL
        await there.shows(exposed(chat_0=50, chat_1=0, chat_2=0), 'failed{pod="chat-0"} == 50')
        assert await until_it_ended(canary_of(), there) is AnalysisOutcome.FAILED
        assert await until_it_ended(canary_of(failAbove=0.9), there) is AnalysisOutcome.INCONCLUSIVE
        await there.shows(exposed(chat_1=0), 'absent(failed{pod="chat-0"})')
        assert await until_it_ended(canary_of(), there) is AnalysisOutcome.INCONCLUSIVE


async def test_pods_of_which_there_are_none_select_nothing(tmp_path: Path) -> None:
    """An empty pattern would select what has no label pod at all."""
    async with real_prometheus(tmp_path) as there:
        await there.shows("failed 0\n", "failed")
        world = canary_of(updated=0, query='sum(failed{pod=~"$(pods)"})')
        assert await until_it_ended(world, there) is AnalysisOutcome.INCONCLUSIVE
        assert world.status.analysis[0].measurements[0].reason == Why.NO_DATA
