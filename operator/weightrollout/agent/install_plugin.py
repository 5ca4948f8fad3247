"""Put the engine plugin into a folder for an engine's PYTHONPATH: what the plugin's init container does.

In: this very installation. Out: a folder with the package and its dist-info, which holds the entry point by which vLLM finds
the plugin. A second run finds the first one's files and writes them again.
"""

import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

import weightrollout

PACKAGE: Final = "weightrollout"
#: The engine's Python may be another one.
LEFT_OUT: Final = shutil.ignore_patterns("__pycache__", "*.pyc")
#: Of the dist-info: what says who it is and where its entry points are.
INFO: Final = ("METADATA", "entry_points.txt")


def install(target: Path) -> None:
    """Raises OSError; PackageNotFoundError where this code runs without being installed."""
    found = distribution(PACKAGE)
    package = Path(weightrollout.__file__).parent
    shutil.copytree(package, target / PACKAGE, ignore=LEFT_OUT, dirs_exist_ok=True)
    info = target / f"{PACKAGE}-{found.version}.dist-info"
    info.mkdir(exist_ok=True)
    for name in INFO:
        (info / name).write_text(found.read_text(name) or "")


def main(argv: Sequence[str]) -> int:
    """`argv`: the folder."""
    if len(argv) != 1:
        sys.stderr.write("usage: weightrollout-agent install-plugin DIR\n")
        return 2
    target = Path(argv[0])
    if not target.is_dir():
        sys.stderr.write(f"install-plugin: {target}: no such folder; mount the volume there\n")
        return 2
    try:
        install(target)
    except (OSError, shutil.Error, PackageNotFoundError) as error:
        sys.stderr.write(f"install-plugin: {target}: {error}\n")
        return 1
    return 0
