"""One staging: from a checkpoint folder to proven images in folders that nobody looks at yet.

What can be refused is refused in the order of its cost: headers, then config and tokenizer, then
space, and what only the bytes can tell at the end of the one pass over them.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from weightrollout.handover.records import EngineReport, ImageIndex, LoadPlan
from weightrollout.weights import digest, drafts, layout, preflight
from weightrollout.weights.checkpoint import Checkpoint, open_checkpoint, reading, same_bytes
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.image import ImageWriter
from weightrollout.weights.layout import Copy
from weightrollout.weights.preflight import Coverage
from weightrollout.weights.scatter import CHUNK_BYTES, Pass, Seen


@dataclass(frozen=True, slots=True)
class StageCount:
    bytes: int  # read and hashed so far
    total: int


@dataclass(frozen=True, slots=True)
class Part:
    """One image, and what of the checkpoint fills it."""

    plans: tuple[LoadPlan, ...]  # by rank
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Build:
    """A checkpoint that fits, as far as its headers and small files tell."""

    checkpoint: Checkpoint
    parts: tuple[Part, ...]  # the draft's before the target's
    sums: Mapping[str, str]  # of the files without tensors

    @classmethod
    def of(
        cls, folder: Path, reports: Sequence[EngineReport], *, draft: bool | None = False
    ) -> Self:
        """Raises WeightsError. Reads headers, and the files without tensors.

        `draft`: whether the engine's draft comes from here too; None: if it lies here.
        """
        checkpoint = open_checkpoint(folder)
        manifest = checkpoint.manifest
        parts = [Part(tuple(each.plan for each in reports), preflight.cover(manifest, reports))]
        if drafts.lies_in(manifest, reports) if draft is None else draft:
            coverage = preflight.cover_draft(manifest, reports, own=False)
            parts.insert(0, Part(drafts.plans(reports), coverage))
        sums = _sums(checkpoint)
        metadata = [name for name in sums if digest.matches(name, digest.METADATA)]
        preflight.check_metadata({name: sums[name] for name in metadata}, reports)
        return cls(checkpoint, tuple(parts), sums)

    @classmethod
    def of_draft(cls, folder: Path, reports: Sequence[EngineReport]) -> Self:
        """A checkpoint of the draft's own. Its config was never reported, so it is not compared."""
        checkpoint = open_checkpoint(folder)
        coverage = preflight.cover_draft(checkpoint.manifest, reports, own=True)
        part = Part(drafts.plans(reports), coverage)
        return cls(checkpoint, (part,), _sums(checkpoint))

    def run(
        self,
        folders: Sequence[Path],
        *,
        want: str | None,
        threads: int,
        progress: Callable[[StageCount], None],
        cancelled: Callable[[], bool],
    ) -> tuple[ImageIndex, ...]:
        """Write each part into its folder, for all ranks, but no index. Raises WeightsError."""
        small = self.checkpoint.bytes - sum(file.bytes for file in self.checkpoint.manifest.files)

        def count(read: int) -> None:
            progress(StageCount(small + read, self.checkpoint.bytes))

        with ExitStack() as stack:
            images = [
                stack.enter_context(ImageWriter(folder, part.plans))
                for folder, part in zip(folders, self.parts, strict=True)
            ]
            taken = self._taken()
            seen = Pass(self.checkpoint, taken, images, threads=threads).run(count, cancelled)
            found = self._judge(seen, want)
            return tuple(
                ImageIndex(found, part.plans[0].plan_id(), image.seal())
                for part, image in zip(self.parts, images, strict=True)
            )

    def _taken(self) -> dict[str, list[Copy]]:
        """File name -> what all parts take from it, in the order of its bytes."""
        found: dict[str, list[Copy]] = {}
        for number, part in enumerate(self.parts):
            copies = layout.copies(part.plans, part.coverage.suppliers, image=number)
            for name, taken in copies.items():
                found.setdefault(name, []).extend(taken)
        for taken in found.values():
            taken.sort(key=lambda copy: copy.offset)
        return found

    def _judge(self, seen: Mapping[str, Seen], want: str | None) -> str:
        """The digest of what was read, if it may be used. Always the same refusal for the same bytes."""
        self.checkpoint.check_unchanged()
        found = digest.digest_from_sums(
            {**self.sums, **{name: file.sha256 for name, file in seen.items()}}
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
            ties = (tie for part in self.parts for tie in part.coverage.ties)
            for one, other in dict.fromkeys(ties):
                if not same_bytes(self.checkpoint.folder, one, other, CHUNK_BYTES):
                    raise WeightsError(
                        Reason.TIED_HEAD_DIFFERS,
                        f"{one.name} and {other.name} are one tensor in the engine and differ in the"
                        f" checkpoint: leave out {other.name}, or make them equal",
                    )
        return found


def _sums(checkpoint: Checkpoint) -> dict[str, str]:
    folder = checkpoint.folder
    with reading(folder):
        return {name: digest.sha256_of(folder / name) for name in checkpoint.others()}
