"""The `analysis` step of a canary: what is asked, how often, and what the answers mean."""

import re
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, model_validator

from weightrollout.api.model import ApiModel

#: What a query may name as $(NAME); rollout/arguments.py says what each becomes.
ARGUMENTS: Final = ("name", "namespace", "version", "previousVersion", "pods", "previousPods")
ARGUMENT_PATTERN: Final = r"\$\([^)]*\)?"
#: Neither user nor password, neither blanks nor quotes: what is checked is what is asked.
HTTP_PATTERN: Final = r"^https?://[A-Za-z0-9.:\[\]-]+(/[!-~]*)?$"
ONE_SOURCE: Final = "an analysis is exactly one of prometheus and webhook"
#: Longer ones are over the budget that an API server has for checking their arguments.
MAX_QUERY: Final = 2048

HttpUrl = Annotated[str, Field(max_length=2048, pattern=HTTP_PATTERN)]
Bound = Annotated[float, Field(allow_inf_nan=False)]


def _known_arguments(query: str) -> str:
    """A misspelt argument would select nothing, for ever and without a word."""
    for found in re.findall(ARGUMENT_PATTERN, query):
        if found not in {f"$({name})" for name in ARGUMENTS}:
            known = ", ".join(f"$({name})" for name in ARGUMENTS)
            raise ValueError(f"{found} is no argument; there are {known}")
    return query


class Prometheus(ApiModel):
    """One number from Prometheus, and the bounds that it is good within."""

    address: HttpUrl | None = Field(
        default=None,
        description="Base URL, such as http://prometheus.monitoring:9090; its host must be on the "
        "operator's list (--analysis-host). Absent: the operator's own, --prometheus-address.",
    )
    query: Annotated[
        str, Field(min_length=1, max_length=MAX_QUERY), AfterValidator(_known_arguments)
    ] = Field(
        description="PromQL that gives one number: a scalar, or a vector with one series. "
        "$(name), $(namespace), $(version), $(previousVersion), $(pods) and $(previousPods) are "
        "replaced; the last two are regular expressions for names of pods."
    )
    min: Bound | None = Field(default=None, description="A good value is at least this.")
    max: Bound | None = Field(default=None, description="A good value is at most this.")
    fail_below: Bound | None = Field(
        default=None,
        description="A value below it is bad; between it and min it says nothing. Default: min.",
    )
    fail_above: Bound | None = Field(
        default=None,
        description="A value above it is bad; between max and it it says nothing. Default: max.",
    )

    @model_validator(mode="after")
    def _bounds_are_in_order(self) -> Self:
        """As rules.BOUNDS has it, for whoever comes by no API server."""
        if self.min is None and self.max is None:
            raise ValueError("set min, max or both: any value would be good")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min may not be more than max")
        if self.fail_below is not None and (self.min is None or self.fail_below > self.min):
            raise ValueError("failBelow goes with min and may not be more")
        if self.fail_above is not None and (self.max is None or self.fail_above < self.max):
            raise ValueError("failAbove goes with max and may not be less")
        return self


class Webhook(ApiModel):
    """A service of yours that judges the canary."""

    url: HttpUrl = Field(
        description="Asked by POST, signed with the operator's key; its host must be on the "
        'operator\'s list (--analysis-host). It answers 200 with {"result": "Successful"}, '
        "Failed or Inconclusive, and may add value and message."
    )


class Analysis(ApiModel):
    """Measure while the canary serves; go on, stop or ask a person by what comes out."""

    prometheus: Prometheus | None = None
    webhook: Webhook | None = None
    interval_seconds: Annotated[int, Field(ge=1, le=86400)] = Field(
        default=60, description="From the end of one measurement to the next."
    )
    count: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=1,
        description="Measurements that give an answer, good or bad, before the step is passed.",
    )
    failure_limit: Annotated[int, Field(ge=0, le=999)] = Field(
        default=0, description="Bad ones that are forgiven; one more rejects the version."
    )
    inconclusive_limit: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=3,
        description="Those without an answer that are repeated; one more and a person must decide.",
    )
    initial_delay_seconds: Annotated[int, Field(ge=0, le=86400)] = Field(
        default=0, description="Before the first measurement."
    )
    dry_run: bool = Field(
        default=False,
        description="Measure and show, and pass the step whatever comes out.",
    )

    @model_validator(mode="after")
    def _can_say_something(self) -> Self:
        if (self.prometheus is None) == (self.webhook is None):
            raise ValueError(ONE_SOURCE)
        if self.failure_limit >= self.count:
            raise ValueError("failureLimit must be less than count: it could never fail")
        return self
