"""`spec.weights.signature`: whose signature lies beside the weights, and by which name."""

import hashlib
import re
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from weightrollout.api.model import ApiModel

SIGNATURE_FILE: Final = "model.sig"
#: Never a file that counts for the digest: a signature cannot sign itself.
FILE_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]*\.sig$"
COUNTED_PATTERN: Final = r"^(tokenizer|chat_template)"
KEY_PATTERN: Final = (
    r"^\s*-----BEGIN PUBLIC KEY-----\s[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$"
)
AUTHORITIES_PATTERN: Final = (
    r"^\s*(-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+$"
)
ONE_METHOD: Final = "set exactly one of key, authorities and keyless"


class Keyless(ApiModel):
    """Who signed, as an OpenID Connect issuer knows them, by a certificate of Sigstore."""

    identity: Annotated[str, Field(min_length=1, max_length=1024)] = Field(
        description="Subject of the signer's certificate, letter for letter: an e-mail address, or "
        "the URI of a workflow or a ServiceAccount."
    )
    issuer: Annotated[str, Field(min_length=1, max_length=1024)] = Field(
        description="OpenID Connect issuer that vouched for it, such as "
        "https://token.actions.githubusercontent.com."
    )


class Signature(ApiModel):
    """An OpenSSF model signature: one file in the folder of the weights."""

    file: Annotated[str, Field(min_length=5, max_length=255, pattern=FILE_PATTERN)] = Field(
        default=SIGNATURE_FILE,
        description="Its name in the folder; it does not count for the digest.",
    )
    key: Annotated[str, Field(max_length=1024, pattern=KEY_PATTERN)] | None = Field(
        default=None,
        description="PEM of the signer's public key: EC on P-256, P-384 or P-521.",
    )
    authorities: Annotated[str, Field(max_length=16384, pattern=AUTHORITIES_PATTERN)] | None = (
        Field(
            default=None,
            description="PEM of certificates, one of which the signer's certificate must lead to.",
        )
    )
    keyless: Keyless | None = Field(
        default=None,
        description="A short-lived certificate of Sigstore. Needs the agents' "
        "--sigstore-trusted-root.",
    )

    @model_validator(mode="after")
    def _is_one_method(self) -> Self:
        """As the API server's rules have it, for whoever comes by none."""
        if re.search(COUNTED_PATTERN, self.file):
            raise ValueError(f"{self.file} counts for the digest and cannot hold its signature")
        given = [each for each in (self.key, self.authorities, self.keyless) if each is not None]
        if len(given) != 1:
            raise ValueError(f"{ONE_METHOD}, got {len(given)} of them")
        return self

    def proof(self, digest: str) -> str:
        """Names the fact that this signature was found on the weights of `digest`, on wire and disk."""
        text = self.model_dump_json(exclude={"file"}, exclude_none=True)
        return f"{digest}@{hashlib.sha256(text.encode()).hexdigest()[:32]}"
