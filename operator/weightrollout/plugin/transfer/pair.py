"""What is copied where, and what cannot be."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from weightrollout.plugin.transfer.errors import PairRefused
from weightrollout.plugin.transfer.overlap import overlapping


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """One live tensor, or a part of one, and the staged tensor that fills it.

    target: any shape, dtype and strides, on the CPU or one CUDA device; no element in it twice.
    source: the same shape, on the CPU, any dtype that torch can cast; kept alive by the transfer. Its
        bytes are read in `run`, so whoever maps them must not change or truncate them until then.
    owner: the live tensor of which `target` is a part. Give it where `target` was cut out of
        `tensor.data`: such a view does not follow when `tensor.data` is put elsewhere, and without
        `owner` nobody would see it.
    name: for messages.
    """

    target: torch.Tensor
    source: torch.Tensor
    owner: torch.Tensor | None = None
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A pair that was checked, as plain tensors without gradients, and with a name in any case."""

    name: str
    target: torch.Tensor
    source: torch.Tensor

    @property
    def is_plain(self) -> bool:
        """The bytes of the source, in their order, are those of the target."""
        return (
            self.target.dtype == self.source.dtype
            and self.target.is_contiguous()
            and self.source.is_contiguous()
            # Lazy views of complex numbers: their memory does not hold their values.
            and not (self.source.is_conj() or self.source.is_neg())
            and not (self.target.is_conj() or self.target.is_neg())
        )

    @property
    def nbytes(self) -> int:
        """Of the source."""
        return int(self.source.numel() * self.source.element_size())


def checked(pairs: Sequence[Pair]) -> list[Task]:
    """The pairs that have an element, or PairRefused with the first reason found.

    Not for subclasses of Tensor that intercept its functions: the caller switches that off.
    """
    tasks: list[Task] = []
    for index, pair in enumerate(pairs):
        name = pair.name or f"pair {index}"
        why = _refusal(pair.target, pair.source)
        if why is not None:
            raise PairRefused(f"{name}: {why}")
        if pair.target.numel() > 0:
            tasks.append(Task(name, _bare(pair.target), _bare(pair.source)))
    gpus = sorted({str(task.target.device) for task in tasks if task.target.is_cuda})
    if len(gpus) > 1:
        raise PairRefused(f"targets on {', '.join(gpus)}: one transfer serves one device")
    twice = overlapping([(task.name, task.target) for task in tasks])
    if twice is not None:
        raise PairRefused(f"{', '.join(twice)}: some bytes would be written twice")
    _refuse_sources_among_targets(tasks)
    return tasks


def _refusal(target: torch.Tensor, source: torch.Tensor) -> str | None:
    if target.layout != torch.strided or source.layout != torch.strided:
        return f"layouts {target.layout} and {source.layout}: only strided tensors have addresses"
    if target.device.type not in ("cpu", "cuda"):
        return f"the target is on {target.device}: only cpu and cuda are known"
    if source.device.type != "cpu":
        return f"the source is on {source.device}: staged bytes are on the cpu"
    if target.is_quantized or source.is_quantized:
        return "quantised tensors carry scales that a copy of their bytes would miss"
    if target.shape != source.shape:
        return f"target {tuple(target.shape)}, source {tuple(source.shape)}: shapes must agree"
    return None


def _bare(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory without gradient and without the behaviour of a subclass of Tensor."""
    bare: torch.Tensor = tensor.detach().as_subclass(torch.Tensor)
    return bare


def _refuse_sources_among_targets(tasks: Sequence[Task]) -> None:
    """A source that is written while it is read gives neither old nor new bytes."""
    written = sorted(
        (*span(task.target), True, task.name) for task in tasks if not task.target.is_cuda
    )
    read = [(*span(task.source), False, task.name) for task in tasks]
    ends = {True: (0, ""), False: (0, "")}  # the furthest end so far, of each kind
    for start, end, is_target, name in sorted([*written, *read]):
        other_end, other = ends[not is_target]
        if start < other_end:
            raise PairRefused(f"{name}, {other}: a source lies in the memory of a target")
        ends[is_target] = max(ends[is_target], (end, name))


def span(tensor: torch.Tensor) -> tuple[int, int]:
    """First address, and the one after the last; `tensor` has an element."""
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((size - 1) * stride for size, stride in pairs)
    start = int(tensor.data_ptr())
    return start, start + (last + 1) * int(tensor.element_size())
