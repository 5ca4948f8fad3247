"""Is what lies beside the weights what the engine was started with? Pure.

An engine reads its config, tokenizer, processor, generation config and chat template once. Weights that
were trained with others would be served wrongly without any call failing, so a difference is refused
and named. Where only the shape of requests and samples differs, the user may say that it does not
matter (spec.weights.metadata).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from weightrollout.api.spec import Metadata
from weightrollout.handover.fields import BY_FIELD, GENERATION
from weightrollout.handover.records import EngineReport
from weightrollout.weights import digest
from weightrollout.weights.errors import Reason, WeightsError

#: Governed by spec.weights.metadata; all else needs a restart.
GOVERNED: Final = (GENERATION, "chat_template*")
#: A message shows so much of each value.
_VALUE: Final = 80


@dataclass(frozen=True, slots=True)
class Companions:
    """What lies beside the tensors of one checkpoint, as far as it must be compared."""

    sums: dict[str, str]  # file name -> sha256 hex of every file without tensors
    fields: dict[str, dict[str, str]]  # `handover.fields.file_fields`


@dataclass(frozen=True, slots=True)
class Difference:
    file: str
    what: str  # for people, with both values where they are known

    @property
    def governed(self) -> bool:
        return digest.matches(self.file, GOVERNED)


def check(
    companions: Companions, reports: Iterable[EngineReport], policy: Metadata
) -> tuple[str, ...]:
    """Differences that the policy lets pass, for people. Raises WeightsError for the first other one.

    RestartRequired before MetadataDiffers: the first cannot be waived.
    """
    found = tuple(dict.fromkeys(each for report in reports for each in _of(companions, report)))
    for each in found:
        if not each.governed:
            raise WeightsError(
                Reason.RESTART_REQUIRED,
                f"{each.what}. An engine reads it only at its start: publish the weights with the"
                " engine's file, or restart the fleet on this checkpoint",
            )
    if found and policy is Metadata.REQUIRE:
        raise WeightsError(
            Reason.METADATA_DIFFERS,
            f"{found[0].what}. An engine reads it only at its start: publish the weights with the"
            " engine's file, restart the fleet on this checkpoint, or set spec.weights.metadata to"
            " Ignore to swap and let the engine keep its own",
        )
    return tuple(each.what for each in found)


def _of(companions: Companions, report: EngineReport) -> Iterator[Difference]:
    ours = {name for name in companions.sums if digest.matches(name, digest.METADATA)}
    for name in sorted(ours | report.file_hashes.keys()):
        mine, its = companions.sums.get(name), report.file_hashes.get(name)
        if mine == its:
            continue
        if mine is None:
            yield Difference(name, f"{name} is missing; the engine was started with one")
        elif its is None:
            yield Difference(name, f"{name} is new; the engine was started without it")
        elif name in BY_FIELD and name in report.file_fields:
            yield from _of_fields(name, companions.fields.get(name), report.file_fields[name])
        else:
            yield Difference(
                name, f"{name} differs from the engine's ({mine[:12]}, not {its[:12]})"
            )


def _of_fields(
    name: str, mine: Mapping[str, str] | None, its: Mapping[str, str]
) -> Iterator[Difference]:
    if mine is None:
        raise WeightsError(
            Reason.CHECKPOINT_MALFORMED,
            f"{name}: is no JSON object that all readers understand in the same way",
        )
    for field in sorted(mine.keys() | its.keys()):
        if mine.get(field) != its.get(field):
            values = f"{_told(mine.get(field))} here, {_told(its.get(field))} in the engine"
            yield Difference(name, f"{name}: {_short(field)} is {values}")


def _told(value: str | None) -> str:
    return "absent" if value is None else _short(value)


def _short(text: str) -> str:
    return text if len(text) <= _VALUE else f"{text[:_VALUE]}..."
