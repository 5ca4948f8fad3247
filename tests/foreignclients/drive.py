"""Somebody else's client, call by call. Runs in the Python that has vLLM, and imports nothing of ours.

drive.py vllm URL                           vLLM's HTTPVLLMWeightSyncClient
drive.py trl URL FOLDER CHECKPOINT          TRL's WeightTransferClient out of an unpacked wheel

Each line of stdin is `[METHOD, [ARGUMENTS]]`; each of stdout `{"error": ""}`, or the exception's words.
"""

import contextlib
import json
import logging
import socket
import struct
import sys
import types
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

#: An engine on a busy machine; a client gives up by itself later than this.
PATIENT_S = 240


def vllm(url: str) -> Any:
    from vllm.distributed.weight_transfer.clients import HTTPVLLMWeightSyncClient

    return HTTPVLLMWeightSyncClient(url, timeout=PATIENT_S)


def trl(url: str, wheel: str, checkpoint: str) -> Any:
    """NCCL is what is replaced: by plain TCP, as the simulated engine's (simulator/collective.py)
    and that of a real one (realvllm/stockreload/over_tcp.py)."""
    for needs in ("nccl_common", "packed_tensor"):
        import_module(f"vllm.distributed.weight_transfer.{needs}")  # before accelerate is a double
    _packages(wheel)
    weight_transfer: Any = import_module("trl.experimental.async_grpo.weight_transfer")
    theirs = import_module("trl.experimental.async_grpo.vllm_client").VLLMClient
    # As docs/howto/rl-clients.md has it: the agent has no /server_info, which only says the dtype.
    on_agent = type("OnAgent", (theirs,), {"get_dtype": lambda _: "torch.bfloat16"})
    weight_transfer._HAS_STATEFUL_TRAINER_ENGINE = True
    weight_transfer.open_trainer_endpoint = _listen
    weight_transfer.packed_nccl_broadcast_producer = _send
    tensors = list(_tensors(Path(checkpoint)))
    info = {
        "names": [name for name, _, _, _ in tensors],
        "dtype_names": [dtype for _, dtype, _, _ in tensors],
        "shapes": [shape for _, _, shape, _ in tensors],
    }
    client = weight_transfer.WeightTransferClient(
        on_agent(url), info, weight_sync_timeout=PATIENT_S
    )

    class Whole:
        """What AsyncGRPOTrainer does with it."""

        init_weight_transfer = client.init_weight_transfer
        pause = client.pause
        resume = client.resume

        def send_weights(self) -> None:
            client.send_weights(iter([(name, data) for name, _, _, data in tensors]))

    return Whole()


def _packages(wheel: str) -> None:
    """TRL's own packages, without what they import at their front doors; accelerate only logs here."""
    for name in ("trl", "trl.experimental", "trl.experimental.async_grpo"):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(wheel, *name.split(".")))]
        sys.modules[name] = package
    accelerate, log = types.ModuleType("accelerate"), types.ModuleType("accelerate.logging")
    log.get_logger = logging.getLogger  # type: ignore[attr-defined]
    sys.modules |= {"accelerate": accelerate, "accelerate.logging": log}


def _listen(init_info: dict[str, Any]) -> socket.socket:
    with socket.create_server((init_info["master_address"], init_info["master_port"])) as server:
        server.settimeout(PATIENT_S)
        return server.accept()[0]


def _send(iterator: Iterator[Any], group: socket.socket, src: int, post_iter_func: Any) -> None:
    for item in iterator:
        group.sendall(post_iter_func(item))


def _tensors(checkpoint: Path) -> Iterator[tuple[str, str, list[int], bytes]]:
    """Name, dtype, shape and bytes, in the order of the files."""
    names = {"BF16": "bfloat16", "F32": "float32", "F16": "float16"}
    for file in sorted(checkpoint.glob("*.safetensors")):
        data = file.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        header.pop("__metadata__", None)
        for name, it in header.items():
            start, end = (8 + length + offset for offset in it["data_offsets"])
            yield name, names[it["dtype"]], it["shape"], data[start:end]


def main() -> None:
    kind, *arguments = sys.argv[1:]
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # where libraries print
        client = vllm(*arguments) if kind == "vllm" else trl(*arguments)
        print(json.dumps({"error": ""}), file=answers, flush=True)
        for line in sys.stdin:
            method, values = json.loads(line)
            try:
                getattr(client, method)(*values)
                error = ""
            except Exception as failed:
                error = f"{type(failed).__name__}: {failed}"
            print(json.dumps({"error": error}), file=answers, flush=True)


if __name__ == "__main__":
    main()
