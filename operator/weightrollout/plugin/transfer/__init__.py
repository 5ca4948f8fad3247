"""placeholder until the transfer core is merged"""

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Pair:
    target: torch.Tensor
    source: torch.Tensor


class Transfer:
    def __init__(self, pairs):
        self.pairs = pairs

    @classmethod
    def prepare(cls, pairs, *, threads=None):
        return cls(list(pairs))

    def moved(self):
        return None

    def run(self):
        for p in self.pairs:
            p.target.copy_(p.source)
