"""Were these weights signed by whom spec.weights.signature names?

The signature lists files with their sha256. Staging hashes what it reads anyway, so nothing is read for it
but the signature itself. Every file that counts for the digest must be listed as it was read, and every
file that is listed and would count must lie there. What does not count reaches no engine: whether it
is listed, lies there, or is still the same is not looked at.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weightrollout.api.signature import Signature
from weightrollout.weights import bundles, digest
from weightrollout.weights.checkpoint import reading
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources.source import Source

#: A line of a few hundred bytes for each file; a checkpoint has at most some thousands.
MAX_BYTES: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class Signed:
    """What a signature says, which its signer was proven to have said."""

    by: Signature
    bundle: bytes  # as it lay there
    sums: Mapping[str, str]  # file name -> sha256 hex, of the files that count

    def check(self, where: str, names: Collection[str], sums: Mapping[str, str]) -> None:
        """Raises SignatureMismatch. `names` lie there; `sums` are of those that were read by now."""
        for name in sorted(self.sums.keys() | set(names)):
            if name not in self.sums:
                what = "lies there and is not in the signature"
            elif name not in names:
                what = "is in the signature and does not lie there"
            elif sums.get(name, self.sums[name]) != self.sums[name]:
                what = f"has sha256 {sums[name]}, {self.sums[name]} was signed"
            else:
                continue
            raise WeightsError(
                Reason.SIGNATURE_MISMATCH,
                f"{where}/{name}: {what} ({self.by.file}): what was signed are other files than these",
            )


def read(source: Source, by: Signature, trusted_root: Path | None) -> Signed:
    """After `source.stamps`. Raises WeightsError."""
    where = f"{source.where}/{by.file}"
    with reading(source.where):
        bundle = source.beside(by.file, MAX_BYTES + 1)
    if bundle is None:
        raise WeightsError(
            Reason.SIGNATURE_MISSING,
            f"{where}: nothing lies there, and spec.weights.signature asks for a signature: make one with"
            " 'kubectl weightrollout sign' and put it beside the weights",
        )
    if len(bundle) > MAX_BYTES:
        raise WeightsError(
            Reason.SIGNATURE_MALFORMED,
            f"{where}: has more than {MAX_BYTES} bytes: no signature has",
        )
    listed = bundles.signed_files(bundle, by, trusted_root, where)
    sums = {
        name: sha256 for name, sha256 in listed.items() if digest.matches(name, digest.PATTERNS)
    }
    return Signed(by, bundle, {name: sum_ for name, sum_ in sums.items() if "/" not in name})
