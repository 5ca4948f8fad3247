"""One staging: from a checkpoint folder to proven images in folders that nobody looks at yet.

What can be refused is refused in the order of its cost: headers, then config and tokenizer, then
space, and what only the bytes can tell at the end of the one pass over them.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from weightrollout.api.signature import Signature
from weightrollout.api.spec import Metadata
from weightrollout.handover.records import EngineReport, ImageIndex, LoadPlan
from weightrollout.weights import beside, digest, drafts, layout, metadata, preflight, signatures
from weightrollout.weights.beside import Kept
from weightrollout.weights.checkpoint import (
    Checkpoint,
    open_checkpoint,
    reading,
    same_bytes,
    source_changed,
    stamps_of,
)
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.golden import GoldenError, parse
from weightrollout.weights.image import ImageWriter, staging_failures
from weightrollout.weights.journal import Journal, key_of
from weightrollout.weights.layout import Copy
from weightrollout.weights.preflight import Coverage
from weightrollout.weights.scatter import CHUNK_BYTES, Pass, Seen
from weightrollout.weights.signatures import Signed
from weightrollout.weights.sources.source import Source

#: Changes with how chunks are cut and where they go, as far as `Build.key` does not see it.
_LAYOUT: Final = 1


@dataclass(frozen=True, slots=True)
class StageCount:
    bytes: int  # hashed so far
    total: int
    shared: int = 0  # of `bytes`, from the node's volume
    kept: int = 0  # of `bytes`: were there already, from a staging that was killed. The rest is the source's
    note: str = ""  # what is waited for, for people


@dataclass(frozen=True, slots=True)
class Trust:
    """Who must have signed."""

    signature: Signature
    root: Path | None  # Sigstore's trusted root; None: this agent has none


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
    signed: Signed | None  # None: nobody asks for a signature
    shared: bool = False  # tensors come from the node's volume

    @classmethod
    def of(
        cls,
        source: Source,
        reports: Sequence[EngineReport],
        policy: Metadata,
        *,
        draft: bool | None = False,
        trust: Trust | None = None,
    ) -> Self:
        """Raises WeightsError. Reads headers, and the files without tensors.

        `draft`: whether the engine's draft comes from here too; None: if it lies here.
        """
        checkpoint, signed = _opened(source, trust)
        manifest = checkpoint.manifest
        parts = [Part(tuple(each.plan for each in reports), preflight.cover(manifest, reports))]
        if drafts.lies_in(manifest, reports) if draft is None else draft:
            coverage = preflight.cover_draft(manifest, reports, own=False)
            parts.insert(0, Part(drafts.plans(reports), coverage))
        sums = _sums(checkpoint, signed)
        kept = _kept(source, sums)
        if kept.golden is not None:
            _check_golden(source, kept.golden)
        waived = metadata.check(kept.companions, reports, policy)
        return cls(checkpoint, tuple(parts), sums, kept, waived, signed)

    @classmethod
    def of_draft(
        cls, source: Source, reports: Sequence[EngineReport], trust: Trust | None = None
    ) -> Self:
        """A checkpoint of the draft's own. Raises WeightsError.

        Its config was never reported, so it is not compared. Its golden.json is kept and not asked,
        whatever it says: a draft never answers.
        """
        checkpoint, signed = _opened(source, trust)
        coverage = preflight.cover_draft(checkpoint.manifest, reports, own=True)
        part = Part(drafts.plans(reports), coverage)
        sums = _sums(checkpoint, signed)
        return cls(checkpoint, (part,), sums, _kept(source, sums), (), signed)

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
        small = self.small_bytes

        def count(read: int, kept: int) -> None:
            shared = read if self.shared else 0
            progress(StageCount(small + read, self.checkpoint.bytes, shared, kept))

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

    @property
    def source(self) -> Source:
        return self.checkpoint.source

    @property
    def small_bytes(self) -> int:
        """Of the files without tensors."""
        return self.checkpoint.bytes - sum(file.bytes for file in self.checkpoint.manifest.files)

    def reading_from(self, shared: Source) -> "Build":
        """The same with its tensors from the node's volume."""
        return replace(self, checkpoint=replace(self.checkpoint, source=shared), shared=True)

    def key(self) -> str | None:
        """Of all that decides what is read and where it goes; None: nobody can tell it again.

        What comes from the node's volume is written anew: it is near, and another may exchange it.
        """
        if self.shared:
            return None
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

    def proven(self, tensors: Mapping[str, str], want: str | None, *, resumed: bool = False) -> str:
        """The digest of what was read, if it is what is wanted; `tensors`: file name -> sha256 hex.

        `resumed`: some of it was read by an earlier process.
        """
        self.checkpoint.check_unchanged()
        sums = {**self.sums, **tensors}
        self.checkpoint.check_promises(sums)
        found = digest.digest_from_sums(sums)
        if want is not None and found != want:
            if resumed:  # the source may have changed unseen: the weights are not blamed for it
                raise source_changed(self.checkpoint.source.where)
            raise WeightsError(
                Reason.DIGEST_MISMATCH,
                f"{self.checkpoint.source.where} has digest {found}, {want} is wanted:"
                " a broken copy, or another checkpoint than the one the digest was taken of",
            )
        if self.signed is not None:
            self.signed.check(self.checkpoint.source.where, sums.keys(), sums)
        return found

    def _judge(self, seen: Mapping[str, Seen], want: str | None, *, resumed: bool) -> str:
        """The digest, if the bytes may be used. Always the same refusal for the same bytes."""
        tensors = {name: file.sha256 for name, file in seen.items()}
        found = self.proven(tensors, want, resumed=resumed)
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


def _opened(source: Source, trust: Trust | None) -> tuple[Checkpoint, Signed | None]:
    """The signature first: files of somebody who may not be believed are not read."""
    stamps = stamps_of(source)
    signed = None
    if trust is not None:
        signed = signatures.read(source, trust.signature, trust.root)
        signed.check(source.where, stamps.keys(), {})
    return open_checkpoint(source, stamps), signed


def _sums(checkpoint: Checkpoint, signed: Signed | None) -> dict[str, str]:
    sums = {}
    with reading(checkpoint.source.where):
        for name in checkpoint.others():
            with checkpoint.opened(name) as file:
                sums[name] = digest.sha256_from(file)
    if signed is not None:
        signed.check(checkpoint.source.where, checkpoint.stamps.keys(), sums)
    return sums
