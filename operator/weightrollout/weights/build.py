"""One staging: from a checkpoint folder to a proven image in a folder that nobody looks at yet.

What can be refused is refused in the order of its cost: headers, then config and tokenizer, then
space, and what only the bytes can tell at the end of the one pass over them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from weightrollout.api.spec import Metadata
from weightrollout.handover.fields import file_fields
from weightrollout.handover.records import EngineReport, ImageIndex, LoadPlan
from weightrollout.weights import beside, digest, layout, metadata, preflight
from weightrollout.weights.checkpoint import Checkpoint, open_checkpoint, reading, same_bytes
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.golden import GoldenError, parse
from weightrollout.weights.image import ImageWriter, staging_failures
from weightrollout.weights.metadata import Companions
from weightrollout.weights.preflight import Coverage
from weightrollout.weights.scatter import CHUNK_BYTES, Pass, Seen


@dataclass(frozen=True, slots=True)
class StageCount:
    bytes: int  # read and hashed so far
    total: int


@dataclass(frozen=True, slots=True)
class Build:
    """A checkpoint that fits, as far as its headers and small files tell."""

    checkpoint: Checkpoint
    coverage: Coverage
    plans: tuple[LoadPlan, ...]  # by rank
    companions: Companions
    golden: bytes | None  # golden.json, where it has one
    waived: tuple[str, ...]  # differences to the engine's files that the policy lets pass

    @classmethod
    def of(cls, folder: Path, reports: Sequence[EngineReport], policy: Metadata) -> Self:
        """Raises WeightsError. Reads headers, and the files without tensors."""
        checkpoint = open_checkpoint(folder)
        coverage = preflight.cover(checkpoint.manifest, reports)
        with reading(folder):
            sums = {name: digest.sha256_of(folder / name) for name in checkpoint.others()}
            golden = _golden(folder) if digest.GOLDEN in sums else None
        companions = Companions(sums, file_fields(folder))
        waived = metadata.check(companions, reports, policy)
        plans = tuple(report.plan for report in reports)
        return cls(checkpoint, coverage, plans, companions, golden, waived)

    def run(
        self,
        folder: Path,
        *,
        want: str | None,
        threads: int,
        progress: Callable[[StageCount], None],
        cancelled: Callable[[], bool],
    ) -> ImageIndex:
        """Write the images of all ranks into `folder`, but no index. Raises WeightsError."""
        small = self.checkpoint.bytes - sum(file.bytes for file in self.checkpoint.manifest.files)

        def count(read: int) -> None:
            progress(StageCount(small + read, self.checkpoint.bytes))

        with ImageWriter(folder, self.plans) as images:
            with staging_failures(folder, 0):
                beside.keep(folder, self.companions, self.golden)
            taken = layout.copies(self.plans, self.coverage.suppliers)
            seen = Pass(self.checkpoint, taken, images, threads=threads).run(count, cancelled)
            found = self._judge(seen, want)
            return ImageIndex(found, self.plans[0].plan_id(), images.seal())

    def _judge(self, seen: Mapping[str, Seen], want: str | None) -> str:
        """The digest of what was read, if it may be used. Always the same refusal for the same bytes."""
        self.checkpoint.check_unchanged()
        found = digest.digest_from_sums(
            {**self.companions.sums, **{name: file.sha256 for name, file in seen.items()}}
        )
        if want is not None and found != want:
            raise WeightsError(
                Reason.DIGEST_MISMATCH,
                f"{self.checkpoint.folder} has digest {found}, {want} is wanted:"
                " a broken copy, or another checkpoint than the one the digest was taken of",
            )
        for name in sorted(seen):
            if (bad := seen[name].not_finite) is not None:
                raise WeightsError(
                    Reason.NOT_FINITE,
                    f"{name}: tensor {bad.tensor.name} has a NaN or an infinity at index"
                    f" {list(bad.index())}: the training run has diverged, or the export is broken",
                )
        with reading(self.checkpoint.folder):
            for one, other in self.coverage.ties:
                if not same_bytes(self.checkpoint.folder, one, other, CHUNK_BYTES):
                    raise WeightsError(
                        Reason.TIED_HEAD_DIFFERS,
                        f"{one.name} and {other.name} are one tensor in the engine and differ in the"
                        f" checkpoint: leave out {other.name}, or make them equal",
                    )
        return found


def _golden(folder: Path) -> bytes:
    """Read now, because a broken one must be found while the engine serves."""
    data = beside.golden_bytes(folder)
    try:
        parse(data)
    except GoldenError as error:
        raise WeightsError(Reason.GOLDEN_MALFORMED, f"{folder / digest.GOLDEN}: {error}") from error
    return data
