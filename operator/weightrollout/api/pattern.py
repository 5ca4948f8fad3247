"""Regular expressions that users write: matched in bounded time, whatever they and the text are.

The engine behind pydantic's `pattern` is Rust's regex crate, of the RE2 family: finite automata, no
back-tracking, so no look-around and no back-references. Go's RE2, which the API server tries first, has
the same dialect but for corners such as \\Q..\\E.
"""

from functools import lru_cache
from typing import Annotated, Final

from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError
from pydantic_core import SchemaError

#: Time is the product of both sizes: with this one, 0.9 s for the worst pattern that compiles.
MAX_TEXT: Final = 32_768


def compilable(pattern: str) -> str:
    """The pattern itself. Raises ValueError: not of this dialect, or too large a program."""
    _compiled(pattern)
    return pattern


def found(pattern: str, text: str) -> bool:
    """Whether the pattern matches somewhere in the first MAX_TEXT characters. Raises ValueError."""
    try:
        _compiled(pattern).validate_python(text[:MAX_TEXT])
    except ValidationError:
        return False
    return True


@lru_cache(maxsize=16)
def _compiled(pattern: str) -> TypeAdapter[str]:
    try:
        return TypeAdapter(
            Annotated[str, StringConstraints(pattern=pattern)],
            config=ConfigDict(regex_engine="rust-regex"),
        )
    except SchemaError as error:
        why = str(error).strip().splitlines()[-1].removeprefix("error:").strip()
        raise ValueError(f"is no regular expression of the RE2 family: {why[:200]}") from error
