"""vLLM's own layer-wise weight reload, behind a weight-transfer backend named `stock`: what ours is compared with.

UpdateWeights names a checkpoint folder; its safetensors go through `model.load_weights` between vLLM's own initialise and
finalise. With `stock_tcp` a trainer sends the tensors, as it does by NCCL. It runs inside the engine and imports nothing but torch, safetensors and vllm.
"""


def register() -> None:
    """Entry point of `vllm.general_plugins`; called once or more in each process of the engine."""
    from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory

    if "stock" not in WeightTransferEngineFactory._registry:
        register_engine = WeightTransferEngineFactory.register_engine
        register_engine("stock", "stockreload.engine", "StockReload")
        register_engine("stock_tcp", "stockreload.over_tcp", "StockOverTcp")
