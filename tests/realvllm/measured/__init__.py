"""The product's backend as `measured`: each swap takes the path that is asked for, and its parts are timed.

For `make bench-swap`: one engine process shows all its paths in turn, so that a noisy moment hits each of them.
"""


def register() -> None:
    """Entry point of `vllm.general_plugins`; called once or more in each process of the engine."""
    from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory

    if "measured" not in WeightTransferEngineFactory._registry:
        WeightTransferEngineFactory.register_engine("measured", "measured.engine", "Measured")
