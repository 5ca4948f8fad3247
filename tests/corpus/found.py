"""Inputs that once failed, by kind. They stay."""

from collections.abc import Mapping
from typing import Final

CASES: Final[Mapping[str, tuple[bytes, ...]]] = {}
