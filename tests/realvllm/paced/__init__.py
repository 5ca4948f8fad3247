"""An engine whose every step takes a while, so that a test on a busy machine still finds an answer that runs.

Does something only where REALVLLM_STEP_SECONDS says how long.
"""

from __future__ import annotations

import os
import time
from typing import Any


def register() -> None:
    """Entry point. Wraps the worker's step. Twice is once."""
    seconds = float(os.environ.get("REALVLLM_STEP_SECONDS", "0"))
    if not seconds:
        return
    from vllm.v1.worker.gpu_worker import Worker

    step = Worker.execute_model
    if getattr(step, "paced", False):
        return

    def paced(self: Any, scheduler_output: Any) -> Any:
        if scheduler_output.total_num_scheduled_tokens:
            time.sleep(seconds)
        return step(self, scheduler_output)

    paced.paced = True  # type: ignore[attr-defined]
    Worker.execute_model = paced
