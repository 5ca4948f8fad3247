"""Tensors go into a bucket, by a folder of this machine: s3://, gs://, az:// as agents read them."""

import asyncio
import hashlib
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weightrollout.sdk.errors import NotPublished, NotStored
from weightrollout.sdk.storage import SHARD_BYTES, SUMS, Stored, reused, write_checkpoint
from weightrollout.weights.digest import ALGORITHM, counting, matching_files
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import never
from weightrollout.weights.sources.objects import Objects, open_objects
from weightrollout.weights.sources.retry import PATIENCE


@dataclass(frozen=True, slots=True)
class Bucket:
    """`uri`: a folder of a bucket, such as s3://models/chat/. Credentials are the trainer's own, where the cloud puts them.

    `base`: the checkpoint whose config and tokenizer go with the tensors. `scratch`: a folder with room for one version;
    None: where temporary files go. Old versions are not removed: the fleet may still go back to one.
    """

    uri: str
    base: Path
    scratch: Path | None = None
    shard_bytes: int = SHARD_BYTES

    async def put(self, version: str, tensors: Mapping[str, Any]) -> Stored:
        """As `Storage` says it. SHA256SUMS is written last: without it a version is not there, and is begun anew."""
        return await asyncio.to_thread(self._put, version, dict(tensors))

    def _put(self, version: str, tensors: dict[str, Any]) -> Stored:
        where = f"{self.uri.rstrip('/')}/{version}/"
        with tempfile.TemporaryDirectory(prefix=f".{version}.", dir=self.scratch) as name:
            folder = Path(name)
            digest = write_checkpoint(folder, self.base, tensors, self.shard_bytes)
            try:
                with closing(open_objects(where, PATIENCE, never)) as objects:
                    self._upload(objects, folder, version, digest)
            except WeightsError as failed:
                raise _not_stored(where, failed) from failed
        return Stored(where, digest)

    def _upload(self, objects: Objects, folder: Path, version: str, digest: str) -> None:
        there = objects.names()
        if SUMS in there:
            found = ALGORITHM + hashlib.sha256(objects.read_whole(SUMS)).hexdigest()
            if found != digest:
                raise reused(objects.where, version, found, digest)
            return
        ours = matching_files(folder)
        others = sorted(set(counting(there)) - set(ours))
        if others:
            raise NotPublished(
                "VersionReused",
                f"{objects.where} holds {others[0]} of something else, and would never have this digest:"
                f" publish a newer step, or another run than that of {version}",
            )
        for name in (*ours, SUMS):
            objects.put(name, folder / name)


def _not_stored(where: str, failed: WeightsError) -> NotStored:
    message = failed.message
    if failed.reason == Reason.SOURCE_DENIED:
        message = f"{where}: the trainer's credentials are missing, expired, or may not write there"
    return NotStored(failed.reason, message)
