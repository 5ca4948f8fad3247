"""What pip is told on this machine, handed to a build as secrets: mounted while pip runs, and in no layer."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Final

from images.commands import run

#: Where to look and how; nothing that writes, and no folder of this machine.
PASSED_ON: Final = (
    "index-url",
    "extra-index-url",
    "trusted-host",
    "proxy",
    "timeout",
    "retries",
)
#: Of pip's answer; later ones win.
SECTIONS: Final = ("global", "install", ":env:")
#: In the order in which they win.
AUTHORITIES: Final = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")
#: Where the Dockerfile's secrets are mounted.
MOUNTED: Final = "/run/secrets/authorities"


def secrets(folder: Path) -> dict[str, Path]:
    """Files by the ids of the Dockerfile's secrets, written into `folder`."""
    lines = ["[global]", *(f"{name} = {value}" for name, value in settings().items())]
    found = {"pip": folder / "pip.conf"}
    if bundle := authorities():
        lines.append(f"cert = {MOUNTED}")
        found["authorities"] = bundle
    found["pip"].write_text("\n".join(lines) + "\n")
    found["pip"].chmod(0o600)
    return found


def settings() -> dict[str, str]:
    """As pip itself reads them, environment included."""
    return {name: value for name, value in _all().items() if name in PASSED_ON}


def authorities() -> Path | None:
    """The certificates that this machine's pip trusts; None where it uses its own."""
    named = [_all().get("cert"), *(os.environ.get(each) for each in AUTHORITIES)]
    return next((Path(each) for each in named if each and Path(each).is_file()), None)


def _all() -> dict[str, str]:
    said: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for line in run([sys.executable, "-m", "pip", "config", "list"]).splitlines():
        name, _, value = line.partition("=")
        section, _, short = name.rpartition(".")
        if section in said:
            said[section][short] = " ".join(shlex.split(value))
    return {name: value for section in SECTIONS for name, value in said[section].items()}
