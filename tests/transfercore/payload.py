"""A checkpoint's worth of live tensors, and the staged bytes for them."""

from dataclasses import dataclass

import torch

from qwen3 import Shapes
from weightrollout.plugin.transfer import Pair

#: Blocks of a staged image begin on pages.
PAGE_BYTES = 4096
_DTYPES = {"BF16": torch.bfloat16, "F32": torch.float32}


@dataclass(frozen=True)
class Payload:
    """live: zeros, on the device. staged: views of one image in the memory of the host."""

    live: tuple[torch.Tensor, ...]
    staged: tuple[torch.Tensor, ...]
    names: tuple[str, ...]

    @property
    def nbytes(self) -> int:
        """Of the tensors, without the gaps between pages."""
        return sum(int(each.nbytes) for each in self.staged)

    @property
    def pairs(self) -> list[Pair]:
        together = zip(self.live, self.staged, self.names, strict=True)
        return [Pair(live, staged, name=name) for live, staged, name in together]

    def wrong(self) -> list[str]:
        """Names of live tensors whose bytes are not the staged ones."""
        return [
            pair.name
            for pair in self.pairs
            if not torch.equal(
                pair.target.view(torch.uint8), pair.source.view(torch.uint8).to(pair.target.device)
            )
        ]

    def clear(self) -> None:
        for live in self.live:
            live.zero_()


def payload(shapes: Shapes, device: torch.device, *, seed: int) -> Payload:
    """Every 8 bytes of the image differ from all others, so that a misplaced block shows."""
    begins, end = [], 0
    for dtype, sizes in shapes.values():
        begins.append(end)
        nbytes = torch.Size(sizes).numel() * _DTYPES[dtype].itemsize
        end += -(-nbytes // PAGE_BYTES) * PAGE_BYTES
    image = torch.arange(end // 8, dtype=torch.int64).mul_(0x9E3779B97F4A7C1).add_(seed)
    memory = image.view(torch.uint8)
    staged = []
    for begin, (dtype, sizes) in zip(begins, shapes.values(), strict=True):
        nbytes = torch.Size(sizes).numel() * _DTYPES[dtype].itemsize
        staged.append(memory[begin : begin + nbytes].view(_DTYPES[dtype]).view(sizes))
    live = [torch.zeros_like(each, device=device) for each in staged]
    return Payload(tuple(live), tuple(staged), tuple(shapes))
