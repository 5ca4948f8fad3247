"""Live tensors are still where they were.

Addresses are taken before the pause and written to in it. Whatever moves a tensor in between (a swap of
references, LoRA, sleep mode, another reload) would turn them into writes to foreign memory.
"""

from collections.abc import Iterable

import torch

from weightrollout.plugin.transfer.pair import Pair

_Place = tuple[int, int, int, torch.Size, tuple[int, ...], torch.dtype]
_FIELDS = ("address", "storage", "bytes in the storage", "shape", "stride", "dtype")


class Guard:
    """Remembers where the tensors of `pairs` are; both `target` and what it was cut out of.

    Sees a change of the tensor object: other data, another storage, a storage that was resized, other
    shape, stride or dtype. A module that was given another tensor object must be seen by its owner.
    """

    def __init__(self, pairs: Iterable[Pair]) -> None:
        watched: dict[int, tuple[str, torch.Tensor]] = {}
        for index, pair in enumerate(pairs):
            name = pair.name or f"pair {index}"
            # A view's base is known to autograd, except where the view was made from `.data`.
            for tensor in (pair.target, pair.target._base, pair.owner):
                if tensor is not None:
                    watched.setdefault(id(tensor), (name, tensor))
        self._watched = [(name, each, _place(each)) for name, each in watched.values()]

    def moved(self) -> str | None:
        """The first tensor that is elsewhere, and how it differs. About a microsecond per tensor."""
        with torch._C.DisableTorchFunctionSubclass():
            for name, tensor, was in self._watched:
                now = _place(tensor)
                if now != was:
                    return f"{name}: {_difference(was, now)}"
        return None


def _place(tensor: torch.Tensor) -> _Place:
    storage = tensor.untyped_storage()
    return (
        tensor.data_ptr(),
        # The identity of the storage object: an allocator gives a freed address out again.
        storage._cdata,
        storage.nbytes(),
        tensor.shape,
        tensor.stride(),
        tensor.dtype,
    )


def _difference(was: _Place, now: _Place) -> str:
    changes = [
        f"{field} was {_shown(field, old)} and is {_shown(field, new)}"
        for field, old, new in zip(_FIELDS, was, now, strict=True)
        if old != new
    ]
    return ", ".join(changes)


def _shown(field: str, value: object) -> str:
    match value:
        case int() if field in ("address", "storage"):
            return hex(value)
        case tuple():
            return str(tuple(value))
    return str(value)
