"""Make the backend known to vLLM, or refuse to work with a vLLM that nobody has tried."""

import logging
import os
from typing import Final

from weightrollout.handover.records import BACKEND

#: Minors on which `make test-vllm` was run.
TESTED: Final = ("0.32",)
OVERRIDE: Final = "WEIGHTROLLOUT_ALLOW_UNTESTED_VLLM"

log = logging.getLogger(__name__)


def minor() -> str:
    """Of the vLLM of this process, such as "0.32"."""
    import vllm

    return ".".join(vllm.__version__.split(".")[:2])


def untested() -> str:
    """Why this vLLM is refused; "" when it is not."""
    import vllm

    if minor() in TESTED or os.environ.get(OVERRIDE) == vllm.__version__:
        return ""
    return (
        f"vLLM {vllm.__version__} was never tried with this plugin (tried: {', '.join(TESTED)});"
        f" set {OVERRIDE}={vllm.__version__} in the engine's container to try it at your own risk"
    )


def register() -> None:
    """Wraps three functions of vLLM and adds one backend. Twice is once."""
    from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory

    from weightrollout.plugin import recording, replicas

    if BACKEND in WeightTransferEngineFactory._registry:
        return
    WeightTransferEngineFactory.register_engine(
        BACKEND, "weightrollout.plugin.engine", "WeightRolloutEngine"
    )
    why = untested()
    if why:
        log.error("weightrollout: %s", why)
    else:
        recording.listen()
        replicas.listen()
