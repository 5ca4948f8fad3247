"""The engine's side of a swap: a vLLM weight-transfer backend that reads staged weights.

In: `handover` files and two RPC payloads from the agent, images in the staging volume. Out: an
engine report per rank at load, `prepared` before the pause, a receipt after it; and an engine whose
answers equal those of a fresh process on the new checkpoint, or one that says no before the pause.

Runs inside the engine's workers, so it imports `handover`, `weights.digest`, torch and vllm, and
nothing else. vLLM loads it by the entry point group `vllm.general_plugins`.

How the weights get in:
    birth      what every module was when it was built, before a byte was loaded
    shadow     the same modules once more, beside the live ones, filled by the model's own loader
    exchange   put what the shadow holds into the live modules: references, no copies
    tracing    which bytes of which checkpoint tensor land where
    transfer   staged bytes into live tensors at the speed of memory; knows no vLLM
    layers     which exact classes of layers were tried with this vLLM; others are refused
    paths      direct, flip, repack, layerwise: what is done before the pause, and what in it
"""


def register() -> None:
    """Entry point; called in every process of the engine before anything is loaded."""
    from weightrollout.plugin.registration import register as register_with_vllm

    register_with_vllm()
