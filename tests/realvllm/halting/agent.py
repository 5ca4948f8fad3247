"""python -m realvllm.halting.agent: the product's agent, which stops before or after a step of a swap on demand."""

# ruff: noqa: B010 - the type checker refuses a plain assignment to a method

from __future__ import annotations

from realvllm.halting.halts import Halts
from weightrollout.agent.main import main
from weightrollout.swap.records import Step, SwapState
from weightrollout.swap.run import SwapRun


def before(step: Step) -> str:
    return f"agent/{step}/before"


def after(step: Step) -> str:
    return f"agent/{step}/after"


def patch(halts: Halts) -> None:
    send = SwapRun._send

    async def patched(self: SwapRun, state: SwapState, limit_s: float) -> None:
        await halts.stop_here(before(state.step))
        await send(self, state, limit_s)
        await halts.stop_here(after(state.step))

    setattr(SwapRun, "_send", patched)


if __name__ == "__main__":
    found = Halts.from_environment()
    if found is not None:
        patch(found)
    raise SystemExit(main())
