"""Command and arguments of a container, as words and as flags."""

import re
import shlex
from collections.abc import Sequence
from typing import Final

from weightrollout.cli.inject.report import Json, Reason, Refused

SHELLS: Final = ("sh", "bash", "ash", "dash", "zsh")
#: What a server listens at to be reached from everywhere.
ANY_ADDRESS: Final = ("", "0.0.0.0", "::", "[::]")


def words(container: Json) -> list[str]:
    """Command and args, a shell's script in its own words."""
    found = [str(each) for each in listed(container, "command") + listed(container, "args")]
    told = script(found)
    if told is None:
        return found
    try:
        return shlex.split(told)
    except ValueError:
        return told.split()


def runs_vllm(found: Sequence[str]) -> bool:
    return any(
        word.rpartition("/")[2] in ("vllm", "vllm-rs") or word.startswith("vllm.entrypoints")
        for word in found
    )


def script(found: Sequence[str]) -> str | None:
    """What a shell is told by -c; None where no shell is before vLLM itself."""
    for index, word in enumerate(found):
        if runs_vllm([word]):
            return None
        if word.rpartition("/")[2] in SHELLS:
            for flag, told in zip(found[index + 1 :], found[index + 2 :], strict=False):
                if re.fullmatch(r"-[a-z]*c", flag):
                    return told
            return " ".join(found[index + 1 :])  # a shell that runs a file
    return None


def flags(found: Sequence[str]) -> dict[str, str]:
    """ "--name" with dashes -> its last value, "" without one."""
    named: dict[str, str] = {}
    for index, word in enumerate(found):
        if not word.startswith("--"):
            continue
        name, equals, value = word.partition("=")
        following = found[index + 1] if index + 1 < len(found) else "--"
        if not equals and not following.startswith("--"):
            value = following
        named[name.replace("_", "-")] = value
    return named


def listed(container: Json, key: str) -> list[object]:
    found = container.get(key)
    if found is None:
        return []
    if not isinstance(found, list):
        raise Refused(Reason.MALFORMED, f"{key} of container {container.get('name')} is no list")
    return found


def image_name(container: Json) -> str:
    """Without registry, tag and digest, in lower case."""
    last = str(container.get("image") or "").rpartition("/")[2]
    return re.sub(r"[:@].*$", "", last).lower()
