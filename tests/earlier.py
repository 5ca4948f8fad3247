"""An earlier release of this product, from the repository's own history, beside the one that is tested.

In: nothing but git. Out: a folder with the `operator` and `crds` of that commit, below the cache. It runs
with the packages of this environment.
"""

import os
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gobinary import cache_root

ROOT: Final = Path(__file__).resolve().parents[1]
#: Until there is a tag: a commit with another schema of the custom resource, whose operator knows of no
#: drafts on the wire. Raise it to the commit of each release when the next one is made.
EARLIER: Final = "a82cb7e1daa5dfec6038fe2e9e365ad4069c3b80"


class NoHistory(Exception):
    """A shallow clone, or no git: says what is missing."""


@dataclass(frozen=True)
class Earlier:
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Processes with it run that release."""
        return {"PYTHONPATH": str(self.folder / "operator")}

    @property
    def crd(self) -> Path:
        (found,) = (self.folder / "crds").glob("*.yaml")
        return found


def earlier() -> Earlier:
    """Raises NoHistory."""
    commit = os.environ.get("WEIGHTROLLOUT_EARLIER") or EARLIER
    folder = cache_root() / "earlier" / commit
    if not folder.is_dir():
        _unpack(commit, folder)
    return Earlier(folder)


def _unpack(commit: str, folder: Path) -> None:
    """Whole or not at all: two processes may do this at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        packed = scratch / "packed.tar"
        command = ["git", "-C", str(ROOT), "archive", f"--output={packed}", commit]
        done = subprocess.run([*command, "operator", "crds"], capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise NoHistory(f"commit {commit[:12]} is not there (a shallow clone?): {said}")
        with tarfile.open(packed) as tar:
            tar.extractall(scratch / "tree", filter="data")
        try:
            (scratch / "tree").rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
    except FileNotFoundError as missing:
        raise NoHistory(f"git is needed: {missing}") from missing
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
