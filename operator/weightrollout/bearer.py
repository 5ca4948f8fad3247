"""A bearer token in a file, for servers of ours over HTTP. It is read for each call, so that it may rotate.

Standard library only: the engine plugin loads it in a foreign process.

Clients that take a URL and no header bring it as the password in that URL, `http://trainer:TOKEN@HOST:PORT`:
vLLM's own and TRL's are such.
"""

import base64
import hmac
from pathlib import Path
from typing import Final

SHORTEST: Final = 16  # bytes; what is shorter can be guessed
_BEARER: Final = "bearer "
_BASIC: Final = "basic "


class NoToken(Exception):
    """Nobody can be let in: the message says what is wrong with the file."""


def brings(authorization: str, file: Path) -> bool:
    """Whether the header Authorization has the file's token. Raises NoToken."""
    try:
        token = file.read_bytes().strip()
    except OSError as error:
        raise NoToken(f"{file}: {error.strerror or error}") from error
    if len(token) < SHORTEST:
        raise NoToken(f"{file} has {len(token)} bytes, a token has at least {SHORTEST}")
    return hmac.compare_digest(_given(authorization), token)


def _given(authorization: str) -> bytes:
    form = authorization.lower()
    if form.startswith(_BEARER):
        return authorization[len(_BEARER) :].strip().encode(errors="surrogateescape")
    if form.startswith(_BASIC):
        try:
            pair = base64.b64decode(authorization[len(_BASIC) :].strip(), validate=True)
        except ValueError:
            return b""
        return pair.partition(b":")[2]
    return b""
