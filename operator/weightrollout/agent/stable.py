"""Read what the fleet's ConfigMap says is stable, as the kubelet mounts it."""

import json
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from weightrollout.api.names import BASELINE_VERSION, STABLE_KEY
from weightrollout.api.signature import Signature
from weightrollout.api.spec import (
    DIGEST_PATTERN,
    URI_PATTERN,
    VERSION_PATTERN,
    Draft,
    Driver,
    Metadata,
)
from weightrollout.swap.records import BASELINE, Content

SCHEMA: Final = 1
#: The API server takes no larger ConfigMap.
MAX_BYTES: Final = 1 << 20

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Stable:
    """`content` None: there is a file and it cannot be understood, so nobody knows."""

    content: Content | None
    owner_uid: str = ""  # the WeightRollout that published it
    epoch: int = 0  # and its leader
    #: Drives the fleet: the content is its newest durable version that a pod has loaded, or the baseline for none.
    trainer: bool = False


#: No folder, no file: the fleet has no stable version but what its engines start with.
ABSENT: Final = Stable(BASELINE)


def read(folder: Path | None) -> Stable:
    if folder is None:
        return ABSENT
    path = folder / STABLE_KEY
    try:
        with path.open("rb") as file:
            said = json.loads(file.read(MAX_BYTES))
    except FileNotFoundError:
        return ABSENT
    except (OSError, ValueError, RecursionError) as error:
        log.warning("%s cannot be read: %s", path, error)
        return Stable(None)
    schema = said.get("schema") if isinstance(said, dict) else None
    if type(schema) is not int or schema != SCHEMA:
        log.warning("%s has another schema than %d: upgrade the agent", path, SCHEMA)
        return Stable(None)
    trainer = said.get("driver") == Driver.TRAINER
    if trainer and not said.get("revision") and isinstance(said.get("owner"), str):
        return Stable(BASELINE, str(said["owner"]), trainer=True)
    fields = [said.get(key) for key in ("revision", "version", "uri", "digest")]
    owner, epoch = said.get("owner"), said.get("epoch")
    if not all(isinstance(field, str) for field in (*fields, owner)) or type(epoch) is not int:
        log.warning("%s lacks owner, epoch, revision, version, uri or digest", path)
        return Stable(None)
    ignored = said.get("metadata") == Metadata.IGNORE  # any other word is the stricter one
    metadata = Metadata.IGNORE if ignored else Metadata.REQUIRE
    revision, version, uri, digest = (str(field) for field in fields)
    draft = _draft(path, said.get("draft"))
    try:
        signed = said.get("signature")
        signature = Signature.model_validate(signed) if signed is not None else None
    except ValidationError as error:  # what cannot be checked must not count for none
        log.warning("%s: its signature cannot be understood: %s", path, error)
        return Stable(None)
    content = Content(revision, version, uri, digest, metadata, draft, signature)
    if not _names_weights(content):
        # The baseline is published as no file at all; half of one must not lead there.
        log.warning("%s names no weights: uri, digest and a version are needed", path)
        return Stable(None)
    return Stable(content, str(owner), epoch, trainer)


def _draft(path: Path, said: object) -> Draft | None:
    """What cannot be read is left out: a draft costs speed, and takes no pod out of service."""
    try:
        return Draft.model_validate(said) if said is not None else None
    except ValidationError as error:
        log.warning("%s: draft ignored: %s", path, error)
        return None


def _names_weights(said: Content) -> bool:
    return (
        said.version != BASELINE_VERSION
        and re.fullmatch(VERSION_PATTERN, said.version) is not None
        and re.fullmatch(DIGEST_PATTERN, said.digest) is not None
        and re.fullmatch(URI_PATTERN, said.uri) is not None
        and f"{said.uri}{said.revision}".isprintable()
    )
