"""Whether tensors share a byte. Exact: parts that interleave and share nothing are told apart."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class _Place:
    """The bytes of one tensor: runs of `run` bytes, at `strides` (bytes) of `sizes`, from `start`."""

    name: str
    start: int
    end: int  # after the last byte
    run: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def is_one_run(self) -> bool:
        return not self.sizes


def overlapping(tensors: Sequence[tuple[str, torch.Tensor]]) -> list[str] | None:
    """Names of tensors among which some byte occurs twice; None when there are none.

    Every tensor has an element. A tensor may also overlap with itself (an expanded one does). Devices
    are told apart.
    """
    devices = {str(tensor.device) for _, tensor in tensors}
    for device in sorted(devices):
        places = [_place(name, each) for name, each in tensors if str(each.device) == device]
        for cluster in _clusters(sorted(places, key=lambda place: place.start)):
            if _shares(cluster):
                return [place.name for place in cluster]
    return None


def _place(name: str, tensor: torch.Tensor) -> _Place:
    item = int(tensor.element_size())
    run = item
    outer: list[tuple[int, int]] = []
    dims = [
        (stride * item, size)
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
        if size > 1
    ]
    for stride, size in sorted(dims):
        if stride == run and not outer:
            run *= size
        else:
            outer.append((stride, size))
    start = int(tensor.data_ptr())
    end = start + sum((size - 1) * stride for stride, size in outer) + run
    return _Place(
        name,
        start,
        end,
        run,
        tuple(size for _, size in outer),
        tuple(stride for stride, _ in outer),
    )


def _clusters(places: Sequence[_Place]) -> Iterator[list[_Place]]:
    """Groups whose extents touch, of places sorted by their start."""
    cluster: list[_Place] = []
    end = 0
    for place in places:
        if cluster and place.start >= end:
            yield cluster
            cluster = []
        cluster.append(place)
        end = max(end, place.end) if len(cluster) > 1 else place.end
    if cluster:
        yield cluster


def _shares(cluster: Sequence[_Place]) -> bool:
    if all(place.is_one_run for place in cluster):
        return len(cluster) > 1
    if any(0 in place.strides for place in cluster):
        return True  # an expanded tensor
    # A map of the extent, in the largest unit that all lengths and distances are multiples of.
    begin = cluster[0].start
    lengths = [value for place in cluster for value in (place.run, *place.strides)]
    unit = math.gcd(*lengths, *(place.start - begin for place in cluster))
    taken = torch.zeros((max(place.end for place in cluster) - begin) // unit, dtype=torch.bool)
    wanted = 0
    for place in cluster:
        sizes = (*place.sizes, place.run // unit)
        strides = (*(stride // unit for stride in place.strides), 1)
        taken.as_strided(sizes, strides, (place.start - begin) // unit).fill_(True)
        wanted += math.prod(sizes)
    return int(taken.count_nonzero()) < wanted
