"""A bearer token in a file, for servers of ours over HTTP. It is read for each call, so that it may rotate.

Standard library only: the engine plugin loads it in a foreign process.
"""

import hmac
from pathlib import Path
from typing import Final

SHORTEST: Final = 16  # bytes; what is shorter can be guessed
_BEARER: Final = "bearer "


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
    bears = authorization.lower().startswith(_BEARER)
    given = authorization[len(_BEARER) :].strip() if bears else ""
    return hmac.compare_digest(given.encode(), token)
