"""One pod whose engine has a backend as NCCL is, and an agent with the trainers' routes."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from onepod import OnePod, one_pod
from toytrainer import TOKEN, Trainer
from weightrollout.api.names import DEFAULT_TRAINER_PORT


class OpenPod(Protocol):
    def __call__(
        self, guard: str = ..., *, killable: bool = ..., drain_s: float = ..., **flags: Any
    ) -> AbstractAsyncContextManager[tuple[OnePod, Trainer]]: ...


@pytest.fixture
def open_pod(tmp_path: Path) -> OpenPod:
    @asynccontextmanager
    async def opened(
        guard: str = "strict", *, killable: bool = False, drain_s: float = 60.0, **flags: Any
    ) -> AsyncIterator[tuple[OnePod, Trainer]]:
        token = tmp_path / "token"
        token.write_text(f"{TOKEN}\n")
        async with one_pod(
            tmp_path,
            killable=killable,
            agent_flags=(
                *("--trainer-token-file", str(token), "--trainer-guard", guard),
                f"--trainer-drain-seconds={drain_s}",
            ),
            **{"backend": "nccl", "enable_sleep_mode": True, **flags},
        ) as pod:
            trainer = Trainer(f"http://{pod.agent.host}:{DEFAULT_TRAINER_PORT}")
            await pod.until(lambda state: state.ready)
            yield pod, trainer

    return opened
