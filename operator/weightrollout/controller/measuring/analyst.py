"""Who asks: what the operator was told about hosts, Prometheus and key, and one measurement at a time."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from yarl import URL

from weightrollout.api.reasons import MeasurementReason
from weightrollout.api.status import MeasurementOutcome
from weightrollout.clock import Clock
from weightrollout.controller.measuring import prometheus, webhook
from weightrollout.controller.measuring.call import Unanswered, url_of
from weightrollout.controller.measuring.hosts import NOBODY, Hosts, only
from weightrollout.rollout.actions import AskPrometheus, Measure
from weightrollout.rollout.arguments import Arguments
from weightrollout.rollout.fleet import Measurement


@dataclass(frozen=True, slots=True)
class Analyst:
    hosts: Hosts = NOBODY
    prometheus: URL | None = None  # the operator's own; allowed because an administrator named it
    key_file: Path | None = None

    async def measure(self, action: Measure, owner_uid: str, clock: Clock) -> Measurement:
        """Never raises for what others do."""
        value: float | None = None
        said: MeasurementOutcome | None = None
        reason, message = "", ""
        try:
            if isinstance(action.question, AskPrometheus):
                value = await self._ask_prometheus(action.question)
            else:
                said_to_it = told(action, action.question.arguments, owner_uid)
                word = await self._ask_webhook(action.question.url, said_to_it, clock)
                value, said, message = word.value, word.outcome, word.message
        except Unanswered as nothing:
            reason, message = nothing.reason, nothing.message
        now = clock.monotonic()
        return Measurement(action.analysis, action.number, now, value, said, reason, message)

    async def _ask_prometheus(self, question: AskPrometheus) -> float:
        if question.address is not None:
            return await prometheus.query(self.hosts, url_of(question.address), question.query)
        if self.prometheus is None:
            message = "the step names no address, and the operator has none: --prometheus-address"
            raise Unanswered(MeasurementReason.NO_ADDRESS, message)
        return await prometheus.query(only(self.prometheus), self.prometheus, question.query)

    async def _ask_webhook(
        self, url: str, said: Mapping[str, object], clock: Clock
    ) -> webhook.Word:
        key = await asyncio.to_thread(webhook.read_key, self.key_file)
        timestamp = int(clock.wall().timestamp())
        return await webhook.ask(self.hosts, url_of(url), webhook.signed(said, key, timestamp))


#: Nobody may be asked.
NO_ANALYST: Final = Analyst()


def told(action: Measure, arguments: Arguments, owner_uid: str) -> dict[str, object]:
    """The body of the POST."""
    return {
        "schema": "weightrollout.dev/analysis.v1",
        "id": f"{owner_uid}/{action.analysis}/{action.number}",
        "namespace": arguments.namespace,
        "name": arguments.name,
        "revision": arguments.revision,
        "version": arguments.version,
        "previousVersion": arguments.previous_version,
        "pods": sorted(arguments.pods),
        "previousPods": sorted(arguments.previous_pods),
        "step": int(action.analysis.rpartition("/")[2]) + 1,
        "measurement": action.number,
    }
