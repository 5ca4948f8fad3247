"""The images in the staging volume: staged whole and proven, reused, collected.

An image is a folder `images/<digest hex>/<plan id>/`. It appears by one rename, after everything
in it was proven and made durable, and never changes. A reader that has mapped an image keeps it
when it is collected: files are unlinked, never truncated or written again.
"""

import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from weightrollout.api.signature import Signature
from weightrollout.api.spec import Draft, Metadata
from weightrollout.handover import files, records
from weightrollout.handover.records import (
    EngineReport,
    HandoverError,
    ImageIndex,
    LoadPlan,
    RankImage,
)
from weightrollout.weights import beside, drafts, metadata, sources
from weightrollout.weights.build import Build, StageCount, Trust
from weightrollout.weights.digest import ALGORITHM
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.golden import Golden
from weightrollout.weights.image import staging_failures
from weightrollout.weights.journal import STEP_BYTES
from weightrollout.weights.pace import Pace
from weightrollout.weights.sharing import Sharing, Wish
from weightrollout.weights.signatures import Signed
from weightrollout.weights.sources.retry import PATIENCE, Patience
from weightrollout.weights.sources.source import Source
from weightrollout.weights.unfinished import Unfinished

__all__ = ["StageCount", "Store"]

T = TypeVar("T")

log = logging.getLogger(__name__)

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_PLAN_ID: Final = re.compile(r"[0-9a-f]{16}")
_SIGNATURE: Final = ".sig"
#: More threads than this outrun any volume that we know; and the engine needs its cores.
_MAX_THREADS: Final = 8
_MOST_WORDS: Final = 1024


@dataclass(frozen=True, slots=True)
class _Caller:
    """Who asked for a staging. Both are called about ten times a second."""

    progress: Callable[[StageCount], None]
    cancelled: Callable[[], bool]

    def after(self, done: StageCount) -> "_Caller":
        """For what follows: it counts on."""

        def progress(count: StageCount) -> None:
            self.progress(
                replace(
                    count,
                    bytes=done.bytes + count.bytes,
                    total=done.total + count.total,
                    shared=done.shared + count.shared,
                    kept=done.kept + count.kept,
                )
            )

        return _Caller(progress, self.cancelled)


class Store:
    """All images of one staging volume. One for each volume; its methods may run side by side."""

    def __init__(
        self,
        root: Path,
        *,
        threads: int | None = None,
        patience: Patience = PATIENCE,
        trusted_root: Path | None = None,
        sharing: Sharing | None = None,
        pace: Pace | None = None,
        step_bytes: int = STEP_BYTES,
    ) -> None:
        """Removes what an earlier process left and nobody can go on with, as far as the volume lets it.

        `threads` None: one for each core. `trusted_root`: Sigstore's, for keyless signatures.
        `sharing` None: sources are read for this pod alone. `pace` None: as fast as bytes come.
        `step_bytes`: what of a file is read twice at most where a process is killed.
        """
        self.root = root
        self._images = root / files.IMAGES
        self._patience = patience
        self._trusted_root = trusted_root
        self._sharing = sharing
        self.pace = pace or Pace()  # of all stagings together
        self._unfinished = Unfinished(self._images, step_bytes)
        self._threads = threads or min(len(os.sched_getaffinity(0)), _MAX_THREADS)
        self._publishing = threading.Lock()

    def stage(
        self,
        uri: str,
        *,
        digest: str | None,
        reports: Sequence[EngineReport],
        policy: Metadata = Metadata.REQUIRE,
        progress: Callable[[StageCount], None],
        cancelled: Callable[[], bool],
        draft: Draft | None = None,
        signature: Signature | None = None,
    ) -> ImageIndex:
        """Read, check and keep the weights at `uri` for the engine that wrote `reports`.

        An engine with a draft gets a second image, of `draft`; None: of the same checkpoint where
        that holds it. Whoever finds the target's image finds that one too.

        Blocks. `progress` and `cancelled` are called in the caller's thread about ten times a
        second. Where an image of `digest` is there, and was found signed by whom `signature` names,
        the source is not looked at. A second run finds the first one's image. Needs reports that
        `preflight.engine_refusal` lets through.
        Raises WeightsError; then the target has not become visible. Nothing is left behind, but where
        the failure may pass: then what was read is kept for the next staging of the same weights.
        """
        reports = sorted(reports, key=lambda report: report.rank)
        plans, draft_plans = [report.plan for report in reports], drafts.plans(reports)
        caller = _Caller(progress, cancelled)
        own = draft is not None and draft.uri is not None
        if draft is not None and draft.uri is not None:
            caller = caller.after(self._stage_draft(draft, draft.uri, reports, caller))
        # None: nobody has said where it comes from.
        inside = False if own or not draft_plans else (None if draft is None else True)
        if digest is not None:
            if _DIGEST.fullmatch(digest) is None:
                raise WeightsError(
                    Reason.DIGEST_MISMATCH, f"{digest!r} is no digest: sha256:<64 hex digits>"
                )
            ready = self._ready(digest, plans)
            whole = not inside or self._ready(digest, draft_plans) is not None
            if ready is not None and whole and self._is_signed(digest, signature):
                _tell(ready.digest, self.check(ready, reports, policy))
                return ready
        with closing(self._opened(uri, caller)) as source:
            trust = self._trust(signature)
            build = Build.of(source, reports, policy, draft=inside, trust=trust)
            return self._read_once(uri, build, digest, caller)[-1]

    def _stage_draft(
        self, draft: Draft, uri: str, reports: Sequence[EngineReport], caller: _Caller
    ) -> StageCount:
        """A draft with a checkpoint of its own. Returns what was read."""
        digest, signature = draft.digest, draft.signature
        if not (plans := drafts.plans(reports)):
            raise WeightsError(
                Reason.NO_DRAFT,
                "spec.weights.draft names a checkpoint and the engine has no draft to load: leave"
                " it out, or start the engine with --speculative-config",
            )
        ready = digest is not None and self._ready(digest, plans) is not None
        if digest is not None and ready and self._is_signed(digest, signature):
            return StageCount(0, 0)
        read = StageCount(0, 0)

        def progress(count: StageCount) -> None:
            nonlocal read
            read = count
            caller.progress(count)

        try:
            with closing(self._opened(uri, caller)) as source:
                build = Build.of_draft(source, reports, self._trust(signature))
                self._read_once(uri, build, digest, _Caller(progress, caller.cancelled))
        except WeightsError as error:
            # The target's digest may have been pinned by a scout, the draft's never is.
            other = error.reason is Reason.DIGEST_MISMATCH
            reason = Reason.DRAFT_DIGEST_MISMATCH if other else error.reason
            raise WeightsError(reason, f"spec.weights.draft: {error.message}") from error
        return replace(read, bytes=read.total, note="")

    def _read_once(
        self, uri: str, build: Build, want: str | None, caller: _Caller
    ) -> list[ImageIndex]:
        """Through the node's volume, where there is one. A folder of this machine is shared as it is."""
        if self._sharing is None or sources.folder(uri) is not None:
            return self._build(build, want, caller)
        wish = Wish(build, want, self._threads, caller.progress, caller.cancelled)
        return self._sharing.run(
            wish, lambda build, want, done: self._build(build, want, caller.after(done))
        )

    def _build(self, build: Build, want: str | None, caller: _Caller) -> list[ImageIndex]:
        """Write, prove and publish the images of one checkpoint, in the order of its parts."""
        with self._unfinished.home(build.key()) as (home, journal):
            folders = [home / str(number) for number in range(len(build.parts))]
            for folder in folders:
                with staging_failures(folder, 0):
                    folder.mkdir(exist_ok=True)
            indexes = build.run(
                folders,
                want=want,
                threads=self._threads,
                progress=caller.progress,
                cancelled=caller.cancelled,
                journal=journal,
            )
            _tell(indexes[-1].digest, build.waived)
            if build.signed is not None:
                self._keep_signature(indexes[-1].digest, build.signed)
            return [
                self._publish(folder, index, part.plans)
                for folder, index, part in zip(folders, indexes, build.parts, strict=True)
            ]

    def _opened(self, uri: str, caller: _Caller) -> Source:
        return sources.opened(uri, caller.cancelled, self._patience, self.pace)

    def staged(self, plan_id: str, reports: Sequence[EngineReport] = ()) -> frozenset[str]:
        """Digests with an image for this plan, whose config and tokenizer are those of `reports`."""
        found = (self.index(f"{ALGORITHM}{each.name}", plan_id) for each in self._folders())
        return frozenset(
            index.digest for index in found if index is not None and self._fits(index, reports)
        )

    def signed(self) -> frozenset[str]:
        """`Signature.proof` of each signature that was found on weights whose images are here."""
        with staging_failures(self._images, 0):
            return frozenset(
                f"{ALGORITHM}{folder.name}@{kept.stem}"
                for folder in self._folders()
                for kept in folder.glob(f"*{_SIGNATURE}")
            )

    def _trust(self, signature: Signature | None) -> Trust | None:
        return None if signature is None else Trust(signature, self._trusted_root)

    def _is_signed(self, digest: str, signature: Signature | None) -> bool:
        with staging_failures(self._images, 0):
            return signature is None or self._kept_signature(digest, signature).exists()

    def _keep_signature(self, digest: str, signed: Signed) -> None:
        """Before the image becomes visible, as the proof that its bytes were those that were signed."""
        path = self._kept_signature(digest, signed.by)
        with staging_failures(path, len(signed.bundle)):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(signed.bundle)

    def _kept_signature(self, digest: str, by: Signature) -> Path:
        name = by.proof(digest).rpartition("@")[2]
        return self._images / digest.removeprefix(ALGORITHM) / f"{name}{_SIGNATURE}"

    def _fits(self, index: ImageIndex, reports: Sequence[EngineReport]) -> bool:
        try:
            self.check(index, reports, Metadata.IGNORE)
        except WeightsError:
            return False
        return True

    def check(
        self, index: ImageIndex, reports: Sequence[EngineReport], policy: Metadata
    ) -> tuple[str, ...]:
        """`metadata.check` of an image that is there: the engine may have restarted since, on others."""
        region = self.region(index.digest, index.plan_id)
        return metadata.check(self._read(region, beside.companions), reports, policy)

    def golden(self, digest: str, plan_id: str) -> Golden | None:
        """What these weights must answer; None: the checkpoint says nothing. Needs an image.

        Raises WeightsError.
        """
        return self._read(self.region(digest, plan_id), beside.golden_of)

    def _read(self, region: Path, reader: Callable[[Path], T]) -> T:
        try:
            return reader(region)
        except (HandoverError, OSError) as error:
            raise WeightsError(Reason.STAGING_UNWRITABLE, f"{region}: {error}") from error

    def index(self, digest: str, plan_id: str) -> ImageIndex | None:
        """None where there is no image, or not a whole one; also for text that is no digest."""
        if _DIGEST.fullmatch(digest) is None:
            return None
        region = self.region(digest, plan_id)
        try:
            index = records.read(ImageIndex, region / files.INDEX)
            if index is None or (index.digest, index.plan_id) != (digest, plan_id):
                return None
            whole = all(_is_whole(region, image) for image in index.ranks)
            beside.companions(region)
        except (HandoverError, OSError):
            return None
        return index if whole else None

    def region(self, digest: str, plan_id: str) -> Path:
        """Folder of an image; it need not exist. `files.region` is the same, relative to the root."""
        if _DIGEST.fullmatch(digest) is None or _PLAN_ID.fullmatch(plan_id) is None:
            raise ValueError(f"no digest and plan id: {digest!r}, {plan_id!r}")
        return self.root / files.region(digest, plan_id)

    def collect(self, keep: Collection[str]) -> list[str]:
        """Remove the images of all digests but those in `keep`; returns the digests removed."""
        removed = []
        for folder in self._folders():
            digest = f"{ALGORITHM}{folder.name}"
            if digest not in keep:
                self._remove(folder)
                removed.append(digest)
        if self._sharing is not None:
            self._sharing.collect(keep)
        return removed

    def _folders(self) -> list[Path]:
        with staging_failures(self._images, 0):
            try:
                found = list(self._images.iterdir())
            except FileNotFoundError:
                return []  # nothing was staged yet
        return sorted(each for each in found if _DIGEST.fullmatch(f"{ALGORITHM}{each.name}"))

    def _ready(self, digest: str, plans: Sequence[LoadPlan]) -> ImageIndex | None:
        """An image that fits all ranks: the plan id names the layout of rank 0 alone."""
        index = self.index(digest, plans[0].plan_id())
        if index is None or len(index.ranks) != len(plans):
            return None
        fits = all(
            (image.rank, image.bytes, [(block.parameter, block.bytes) for block in image.blocks])
            == (
                plan.rank,
                plan.image_bytes,
                [(block.parameter, block.bytes) for block in plan.blocks],
            )
            for image, plan in zip(index.ranks, plans, strict=True)
        )
        return index if fits else None

    def _publish(self, temporary: Path, index: ImageIndex, plans: Sequence[LoadPlan]) -> ImageIndex:
        region = self.region(index.digest, index.plan_id)
        with self._publishing, staging_failures(region, 0):
            if (ready := self._ready(index.digest, plans)) is not None:
                return ready
            if region.exists():
                self._remove_locked(region)
            records.write(temporary / files.INDEX, index)
            _sync_folder(temporary)
            region.parent.mkdir(exist_ok=True)
            temporary.rename(region)
            _sync_folder(region.parent)
            _sync_folder(self._images)
        return index

    def _remove(self, folder: Path) -> None:
        with self._publishing, staging_failures(folder, 0):
            self._remove_locked(folder)

    def _remove_locked(self, folder: Path) -> None:
        """Out of sight by one rename, then unlinked: a half-removed image is never seen."""
        away = self._unfinished.away()
        folder.rename(away)
        shutil.rmtree(away)


def _tell(digest: str, waived: Sequence[str]) -> None:
    """Once for each staging: nothing else will ever show that the engine keeps its own."""
    if waived:
        log.warning(
            "%s: spec.weights.metadata is Ignore, so the engine keeps its own: %s",
            digest,
            "; ".join(waived)[:_MOST_WORDS],
        )


def _is_whole(region: Path, image: RankImage) -> bool:
    return files.rank_image(region, image.rank).stat().st_size == image.bytes


def _sync_folder(folder: Path) -> None:
    """Make names durable, not only bytes."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
