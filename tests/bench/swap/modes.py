"""What is measured: models, engines, modes, and the settings of a run. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from realvllm.families import ENDLESS, FAMILIES, PAYLOADS, Family

PACKED: Final = "packed"
PLAIN: Final = "plain"
#: Kind of engine -> its environment.
ENGINES: Final[Mapping[str, Mapping[str, str]]] = {PACKED: {}, PLAIN: {"REALVLLM_PLAIN": "1"}}


@dataclass(frozen=True)
class Mode:
    """A way to bring weights into a kind of engine. `path`: as the backend `measured` knows it."""

    name: str
    engine: str
    path: str
    title: str


MODES: Final = (
    Mode("flip", PACKED, "flip", "`flip`"),
    Mode("repack", PACKED, "repack", "`repack`"),
    Mode("layerwise", PACKED, "layerwise", "`layerwise`"),
    Mode("own", PACKED, "own", "vLLM's own update"),
    Mode("direct", PLAIN, "direct", "`direct`"),
    Mode("own-plain", PLAIN, "own", "vLLM's own update"),
)


@dataclass(frozen=True)
class Model:
    """`before` and `after`: tokens of each stream around a swap under load."""

    name: str
    title: str
    family: Family
    modes: tuple[Mode, ...] = MODES
    max_tokens: int = 256
    streams: int = 0  # 0: not measured under load
    before: int = 0
    after: int = 0


MODELS: Final = (
    # Idle only: its streams end before a swap has begun.
    Model("tiny", "Tiny model", ENDLESS, max_tokens=8192),
    Model(
        "untied",
        "Qwen3-0.6B, untied head",
        PAYLOADS["payload_untied"],
        max_tokens=1024,
        streams=2,
        before=12,
        after=8,
    ),
    Model("tied", "Qwen3-0.6B, tied head", PAYLOADS["payload_tied"]),
    Model("draft", "Tiny model with a draft model", FAMILIES["draft_model"], modes=MODES[:1]),
)
#: Measured under load: (mode, whether the KV cache is cleared).
UNDER_LOAD: Final = (
    *(("flip", True), ("flip", False), ("repack", True), ("own", True)),
    *(("direct", True), ("direct", False)),
)
#: Where staging may run beside a serving engine.
ALL: Final = "all cores"
SPARE: Final = "the spare cores"
PARTS: Final = (*(model.name for model in MODELS), "staging", "transfer")


@dataclass(frozen=True)
class Settings:
    """Of one run."""

    only: tuple[str, ...] = PARTS
    rounds: int = 5
    load_rounds: int = 2
    staging_rounds: int = 3
    #: No round begins later than this after the first of its part; the first always runs.
    part_s: float = 150.0
    #: No model is begun later than this after the start, so that a slow machine ends, too.
    begin_s: float = 660.0

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Settings:
        """BENCH_ONLY, BENCH_ROUNDS, BENCH_LOAD_ROUNDS, BENCH_STAGING_ROUNDS. Raises ValueError."""
        usual = cls()
        only = tuple(filter(None, environment.get("BENCH_ONLY", "").split(","))) or usual.only
        if strange := set(only) - set(PARTS):
            raise ValueError(f"BENCH_ONLY={','.join(sorted(strange))}: not of {', '.join(PARTS)}")

        def count(name: str, default: int) -> int:
            return max(1, int(environment.get(name, default)))

        return cls(
            only,
            count("BENCH_ROUNDS", usual.rounds),
            count("BENCH_LOAD_ROUNDS", usual.load_rounds),
            count("BENCH_STAGING_ROUNDS", usual.staging_rounds),
        )


def wanted(settings: Settings) -> Sequence[Model]:
    """The models that this run measures."""
    return [model for model in MODELS if model.name in settings.only]
