"""What docs/howto/node-volume.md tells people to apply and to run, taken from there."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

PAGE: Final = Path(__file__).parents[1] / "docs" / "howto" / "node-volume.md"
AGENT_IMAGE: Final = "REGISTRY/weightrollout-agent:TAG"


def manifests(mark: str, placeholders: Mapping[str, str]) -> list[dict[str, Any]]:
    """The block below a mark, "nodes" or "claim", with words in place of its placeholders, in that order."""
    pattern = rf"^<!-- {mark} -->\n```yaml\n(.*?)^```"
    [text] = re.findall(pattern, PAGE.read_text(), re.MULTILINE | re.DOTALL)
    for placeholder, word in placeholders.items():
        text = text.replace(placeholder, word)
    return list(yaml.safe_load_all(text))


def inject_flags(size: str, *, folder: bool) -> list[str]:
    """As the page gives them to `inject`, for a folder of the node or for a claim. `size`: of a version here."""
    pattern = r"^kubectl weightrollout inject -f deployment.yaml (.*) > injected.yaml"
    lines = re.findall(pattern, PAGE.read_text(), re.MULTILINE)
    [found] = [line for line in lines if ("--node-volume /" in line) is folder]
    return shlex.split(found.replace("16Gi", size))
