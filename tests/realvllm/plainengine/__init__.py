"""vLLM on CPU with plain weights, as a GPU has them: nothing is packed. For tests of copies in place.

Does something only where REALVLLM_PLAIN=1.
"""

from __future__ import annotations

import os
from typing import Any


def register() -> None:
    """Entry point. Takes the two packing backends away; what is left calls torch's own linear."""
    if os.environ.get("REALVLLM_PLAIN") != "1":
        return
    import vllm._custom_ops as ops
    from vllm.model_executor.layers import utils

    def never(*args: Any) -> bool:
        return False

    ops._supports_onednn = False
    utils.check_cpu_sgl_kernel = never
