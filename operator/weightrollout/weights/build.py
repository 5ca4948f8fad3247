"""One staging: from a checkpoint folder to proven images in folders that nobody looks at yet.

What can be refused is refused in the order of its cost: headers, then config and tokenizer, then
space, and what only the bytes can tell at the end of the one pass over them.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from weightrollout.api.spec import Metadata
from weightrollout.handover.records import EngineReport, ImageIndex, LoadPlan
from weightrollout.weights import beside, digest, drafts, layout, metadata, preflight
from weightrollout.weights.beside import Kept
from weightrollout.weights.checkpoint import (
    Checkpoint,
    open_checkpoint,
    reading,
    same_bytes,
    source_changed,
)
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.golden import GoldenError, parse
from weightrollout.weights.image import ImageWriter, staging_failures
from weightrollout.weights.journal import Journal, key_of
from weightrollout.weights.layout import Copy
from weightrollout.weights.preflight import Coverage
from weightrollout.weights.scatter import CHUNK_BYTES, Pass, Seen
from weightrollout.weights.sources.source import Source

#: Changes with how chunks are cut and where they go, as far as `Build.key` does not see it.
_LAYOUT: Final = 1


@dataclass(frozen=True, slots=True)
class StageCount:
    bytes: int  # hashed so far
    total: int
    kept: int = 0  # of `bytes`: were there already, from a staging that was killed; not read from the source


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
    kept: Kept  # beside each image
    waived: tuple[str, ...]  # differences to the engine's files that the policy lets pass

    @classmethod
    def of(
        cls,
        source: Source,
        reports: Sequence[EngineReport],
        policy: Metadata,
        *,
        draft: bool | None = False,
    ) -> Self:
        """Raises WeightsError. Reads headers, and the files without tensors.

        `draft`: whether the engine's draft comes from here too; None: if it lies here.
        """
        checkpoint = open_checkpoint(source)
        manifest = checkpoint.manifest
        parts = [Part(tuple(each.plan for each in reports), preflight.cover(manifest, reports))]
        if drafts.lies_in(manifest, reports) if draft is None else draft:
            coverage = preflight.cover_draft(manifest, reports, own=False)
            parts.insert(0, Part(drafts.plans(reports), coverage))
        sums = _sums(checkpoint)
        kept = _kept(source, sums)
        if kept.golden is not None:
            _check_golden(source, kept.golden)
        waived = metadata.check(kept.companions, reports, policy)
        return cls(checkpoint, tuple(parts), sums, kept, waived)

    @classmethod
    def of_draft(cls, source: Source, reports: Sequence[EngineReport]) -> Self:
        """A checkpoint of the draft's own. Raises WeightsError.

        Its config was never reported, so it is not compared. Its golden.json is kept and not asked,
        whatever it says: a draft never answers.
        """
        checkpoint = open_checkpoint(source)
        coverage = preflight.cover_draft(checkpoint.manifest, reports, own=True)
        part = Part(drafts.plans(reports), coverage)
        sums = _sums(checkpoint)
        return cls(checkpoint, (part,), sums, _kept(source, sums), ())

    def run(
        self,
        folders: Sequence[Path],
        *,
        want: str | None,
        threads: int,
        progress: Callable[[StageCount], None],
        cancelled: Callable[[], bool],
        journal: Journal,
    ) -> tuple[ImageIndex, ...]:
        """Write each part into its folder, for all ranks, but no index. Raises WeightsError.

        A folder may hold what a run with the same `key` has left, of which `journal` tells.
        """
        small = self.checkpoint.bytes - sum(file.bytes for file in self.checkpoint.manifest.files)

        def count(read: int, kept: int) -> None:
            progress(StageCount(small + read, self.checkpoint.bytes, kept))

        with ExitStack() as stack:
            images = [
                stack.enter_context(ImageWriter(folder, part.plans))
                for folder, part in zip(folders, self.parts, strict=True)
            ]
            for folder in folders:
                with staging_failures(folder, 0):
                    beside.keep(folder, self.kept)
            reading_once = Pass(
                self.checkpoint, self._taken(), images, threads=threads, journal=journal
            )
            seen = reading_once.run(count, cancelled)
            found = self._judge(seen, want, resumed=reading_once.kept > 0)
            return tuple(
                ImageIndex(found, part.plans[0].plan_id(), image.seal())
                for part, image in zip(self.parts, images, strict=True)
            )

    def key(self) -> str | None:
        """Of all that decides what is read and where it goes; None: nobody can tell it again."""
        places = [[(plan.rank, plan.image_bytes) for plan in part.plans] for part in self.parts]
        layout = (_LAYOUT, CHUNK_BYTES, places, sorted(self._taken().items()))
        source = self.checkpoint.source
        return key_of(source.where, self.checkpoint.stamps, source.promised, layout)

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

    def _judge(self, seen: Mapping[str, Seen], want: str | None, *, resumed: bool) -> str:
        """The digest of what was read, if it may be used. Always the same refusal for the same bytes.

        `resumed`: some of them were read by an earlier process.
        """
        self.checkpoint.check_unchanged()
        sums = {**self.sums, **{name: file.sha256 for name, file in seen.items()}}
        self.checkpoint.check_promises(sums)
        found = digest.digest_from_sums(sums)
        if want is not None and found != want:
            if (
                resumed
            ):  # a source may have changed unseen in between: the weights are not blamed for it
                raise source_changed(self.checkpoint.source.where)
            raise WeightsError(
                Reason.DIGEST_MISMATCH,
                f"{self.checkpoint.source.where} has digest {found}, {want} is wanted:"
                " a broken copy, or another checkpoint than the one the digest was taken of",
            )
        for name in sorted(seen):
            if (bad := seen[name].not_finite) is not None:
                raise WeightsError(
                    Reason.NOT_FINITE,
                    f"{name}: tensor {bad.tensor.name} has a NaN or an infinity at index"
                    f" {list(bad.index())}: the training run has diverged, or the export is broken",
                )
        with reading(self.checkpoint.source.where):
            ties = (tie for part in self.parts for tie in part.coverage.ties)
            for one, other in dict.fromkeys(ties):
                if not same_bytes(self.checkpoint.source, one, other, CHUNK_BYTES):
                    raise WeightsError(
                        Reason.TIED_HEAD_DIFFERS,
                        f"{one.name} and {other.name} are one tensor in the engine and differ in the"
                        f" checkpoint: leave out {other.name}, or make them equal",
                    )
        return found


def _kept(source: Source, sums: Mapping[str, str]) -> Kept:
    with reading(source.where):
        return beside.read(source.open, sums)


def _check_golden(source: Source, data: bytes) -> None:
    """Now, because a broken one must be found while the engine serves."""
    try:
        parse(data)
    except GoldenError as error:
        raise WeightsError(
            Reason.GOLDEN_MALFORMED, f"{source.where}/{digest.GOLDEN}: {error}"
        ) from error


def _sums(checkpoint: Checkpoint) -> dict[str, str]:
    sums = {}
    with reading(checkpoint.source.where):
        for name in checkpoint.others():
            with checkpoint.opened(name) as file:
                sums[name] = digest.sha256_from(file)
    return sums
