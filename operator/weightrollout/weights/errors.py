"""Why weights could not be staged, and what that says about them.

WeightsError
|-- class Environment: says nothing against the weights; hold and try again
|     SourceUnsupported    no source is known for the URI
|     SourceNotFound       nothing lies there
|     SourceEmpty          a folder without safetensors files
|     SourceUnreadable     it lies there and cannot be read
|     SourceDenied         credentials are missing, expired or not enough
|     SourceBusy           the server asked for fewer requests, too often
|     SourceUnreachable    no connection to the server
|     SourceUntrusted      a certificate is refused, or a server sends us to another host
|     SourceCorrupt        other bytes came than the source itself names
|     SourceChanged        it changed while it was read
|     TrustRootUnusable    a keyless signature is asked for, and this agent has no trusted root for it
|     StagingSpaceTooSmall the staging volume cannot hold the image
|     StagingUnwritable    the staging volume fails
|     StagingCancelled     the caller asked for the end
`-- class Weights: no engine of this fleet can take them as they are
      DigestMismatch       other bytes than the digest names
      CheckpointMalformed  not a sound safetensors folder (truncated, gaps, duplicates, links)
      TensorMissing        the engine loads a tensor that the checkpoint does not have
      TensorUnexpected     the checkpoint has a tensor that the engine does not load
      ShapeMismatch, DtypeMismatch
      TiedHeadDiffers      one tensor in the engine, two different ones in the checkpoint
      NotFinite            a NaN or an infinity
      RestartRequired      config or tokenizer differ; an engine reads them only at its start
      MetadataDiffers      generation config or chat template differ, and spec.weights.metadata is Require
      GoldenMalformed      golden.json cannot be what the trainer meant
      DraftDigestMismatch  other bytes than the digest of spec.weights.draft names
      NoDraft              spec.weights.draft has a uri, and the engine has no draft
      SignatureMissing     one is asked for, and no such file lies beside the weights
      SignatureMalformed   it is not what OpenSSF model signing writes, or far too large
      SignatureUntrusted   it was not made by whom spec.weights.signature names
      SignatureMismatch    it was made of other files: one was added, changed or is missing
"""

from enum import StrEnum
from typing import Final

from weightrollout.api.swap import FailureClass


class Reason(StrEnum):
    """Stable, as status and events spell it."""

    SOURCE_UNSUPPORTED = "SourceUnsupported"
    SOURCE_NOT_FOUND = "SourceNotFound"
    SOURCE_EMPTY = "SourceEmpty"
    SOURCE_UNREADABLE = "SourceUnreadable"
    SOURCE_DENIED = "SourceDenied"
    SOURCE_BUSY = "SourceBusy"
    SOURCE_UNREACHABLE = "SourceUnreachable"
    SOURCE_UNTRUSTED = "SourceUntrusted"
    SOURCE_CORRUPT = "SourceCorrupt"
    SOURCE_CHANGED = "SourceChanged"
    TRUST_ROOT_UNUSABLE = "TrustRootUnusable"
    STAGING_SPACE_TOO_SMALL = "StagingSpaceTooSmall"
    STAGING_UNWRITABLE = "StagingUnwritable"
    STAGING_CANCELLED = "StagingCancelled"
    DIGEST_MISMATCH = "DigestMismatch"
    CHECKPOINT_MALFORMED = "CheckpointMalformed"
    TENSOR_MISSING = "TensorMissing"
    TENSOR_UNEXPECTED = "TensorUnexpected"
    SHAPE_MISMATCH = "ShapeMismatch"
    DTYPE_MISMATCH = "DtypeMismatch"
    TIED_HEAD_DIFFERS = "TiedHeadDiffers"
    NOT_FINITE = "NotFinite"
    RESTART_REQUIRED = "RestartRequired"
    METADATA_DIFFERS = "MetadataDiffers"
    GOLDEN_MALFORMED = "GoldenMalformed"
    DRAFT_DIGEST_MISMATCH = "DraftDigestMismatch"
    NO_DRAFT = "NoDraft"
    SIGNATURE_MISSING = "SignatureMissing"
    SIGNATURE_MALFORMED = "SignatureMalformed"
    SIGNATURE_UNTRUSTED = "SignatureUntrusted"
    SIGNATURE_MISMATCH = "SignatureMismatch"


_ENVIRONMENT: Final = frozenset(
    {
        Reason.SOURCE_UNSUPPORTED,
        Reason.SOURCE_NOT_FOUND,
        Reason.SOURCE_EMPTY,
        Reason.SOURCE_UNREADABLE,
        Reason.SOURCE_DENIED,
        Reason.SOURCE_BUSY,
        Reason.SOURCE_UNREACHABLE,
        Reason.SOURCE_UNTRUSTED,
        Reason.SOURCE_CORRUPT,
        Reason.SOURCE_CHANGED,
        Reason.TRUST_ROOT_UNUSABLE,
        Reason.STAGING_SPACE_TOO_SMALL,
        Reason.STAGING_UNWRITABLE,
        Reason.STAGING_CANCELLED,
    }
)


#: Names in a checkpoint are as long as who wrote it likes.
MAX_MESSAGE: Final = 1024


class WeightsError(Exception):
    """`reason` is for machines; `message` names file and tensor and says what to do."""

    def __init__(self, reason: Reason, message: str) -> None:
        message = _readable(message)
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message

    @property
    def failure_class(self) -> FailureClass:
        return FailureClass.ENVIRONMENT if self.reason in _ENVIRONMENT else FailureClass.WEIGHTS


def _readable(message: str) -> str:
    """File names are bytes: those that are no Unicode are spelt out, as no message can hold them."""
    return message[:MAX_MESSAGE].encode(errors="backslashreplace").decode()
