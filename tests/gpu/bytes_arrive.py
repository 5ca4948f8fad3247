"""What arrives is what torch's own copy writes, and nothing else. On any device."""

import random
from collections.abc import Mapping

import torch

from transfercore.layouts import lay_out, random_shape, same_bytes
from transfercore.payload import Payload
from weightrollout.plugin.transfer import Ring, Transfer


def random_pairs(device: torch.device, ring: Ring | None, *, lists: int) -> list[str]:
    """Random layouts, dtypes and casts, a few in each transfer. Returns what is wrong."""
    chance = random.Random(1)
    problems = []
    for number in range(lists):
        shapes = [random_shape(chance) for _ in range(chance.randint(1, 6))]
        laid = [
            lay_out(shape, seed=100 * number + index, device=str(device))
            for index, shape in enumerate(shapes)
        ]
        wanted = [each.expected() for each in laid]
        transfer = Transfer.prepare([each.pair for each in laid], threads=2, ring=ring)
        transfer.run()
        transfer.close()
        for shape, each, right in zip(shapes, laid, wanted, strict=True):
            if not same_bytes(each.around, right):
                problems.append(f"list {number}: {shape}")
    return problems


def payloads(by_name: Mapping[str, Payload], ring: Ring | None) -> list[str]:
    """All of them through one ring, one after the other, twice. Returns what is wrong."""
    problems = []
    transfers = {name: Transfer.prepare(each.pairs, ring=ring) for name, each in by_name.items()}
    for again in range(2):
        for name, each in by_name.items():
            each.clear()
            transfers[name].run()
            problems += [f"{name}, run {again}: {tensor}" for tensor in each.wrong()]
    for transfer in transfers.values():
        transfer.close()
    return problems
