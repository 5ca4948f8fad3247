"""What is right and perhaps unwise: said by lint and by plan, never a reason to refuse."""

from collections.abc import Iterator
from dataclasses import dataclass

from weightrollout.api.quantity import limit
from weightrollout.api.spec import Driver, Mode, PauseMode, TakeOut, WeightRolloutSpec
from weightrollout.cli.lint.places import Place


@dataclass(frozen=True, slots=True)
class Warning:
    reason: str  # stable word for scripts
    place: Place
    message: str


def warnings_of(spec: WeightRolloutSpec, pods: int | None) -> Iterator[Warning]:
    """`pods` None: nobody knows how many there will be."""
    weights, strategy = ("spec", "weights"), ("spec", "strategy")
    if spec.weights is None and spec.driver is Driver.TRAINER:
        pass  # a trainer may have none
    elif spec.weights is None:
        yield Warning(
            "NothingDesired", ("spec",), "spec.weights is absent: pods keep what they serve"
        )
    elif spec.weights.digest is None:
        yield Warning(
            "DigestMissing",
            weights,
            "no digest: one pod reads first and what it finds is pinned; give it, and a wrong upload is"
            " refused: 'kubectl weightrollout digest PATH' prints it",
        )
    if pods is not None and pods and spec.swap.take_out is TakeOut.ENDPOINT:
        allowed = limit(spec.strategy.max_unavailable, pods, at_least=1)
        if pods == 1:
            yield Warning(
                "FleetOfOne",
                ("spec", "swap"),
                "a fleet of one pod with takeOut Endpoint is out of service during its swap: add a"
                " pod, or set spec.swap.takeOut: None and requests wait through the pause instead",
            )
        elif allowed >= pods:
            yield Warning(
                "AllPodsOut",
                (*strategy, "maxUnavailable"),
                f"all {pods} pods may be out of service at once: lower spec.strategy.maxUnavailable",
            )
    if spec.swap.pause_mode is PauseMode.GIVE_UP and spec.swap.take_out is TakeOut.NONE:
        yield Warning(
            "NeverIdle",
            ("spec", "swap", "pauseMode"),
            "pauseMode GiveUp with takeOut None: requests keep coming, and a pod is swapped only in a"
            " moment without any: set spec.swap.takeOut: Endpoint",
        )
    if not spec.swap.clear_cache:
        yield Warning(
            "CacheKept",
            ("spec", "swap", "clearCache"),
            "clearCache false lets keys and values of the old weights meet the new ones",
        )
    if not spec.strategy.prove_first:
        yield Warning(
            "NotProvenFirst",
            (*strategy, "proveFirst"),
            "proveFirst false lets bad weights reach maxUnavailable pods at once, not one",
        )
    if not spec.staging.keep_last_good:
        yield Warning(
            "NoInstantUndo",
            ("spec", "staging", "keepLastGood"),
            "keepLastGood false: going back reads the old weights from their uri again",
        )
    if spec.mode is not Mode.RUN:
        yield Warning("NotRunning", ("spec", "mode"), f"mode {spec.mode}: nothing moves until Run")
