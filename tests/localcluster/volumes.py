"""Keep the volumes of one pod as folders of this machine.

emptyDir lives as long as the pod; configMap, secret, downwardAPI and projected volumes are written as the kubelet writes them, all
files at once behind the link `..data`, and again when their source changes (here within milliseconds; a real kubelet takes up to
a minute or two); hostPath is the path itself. Other kinds are refused.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from localcluster.manifest import ConfigError, Lookup, PodFacts, field, payload, picked

Json = dict[str, Any]
# In: pod, audiences, lifetime in seconds.
TokenSource = Callable[[Json, list[str], int], Awaitable[str]]

MEMORY: Final = Path("/dev/shm")  # what medium Memory means
# The share of its life that a token may have used up before it is replaced, as in the kubelet.
TOKEN_AGE: Final = 0.8


class PodVolumes:
    """The volumes of one pod; `prepare` before any container, `refresh` when a source may have changed, `remove` at the end."""

    def __init__(
        self, folder: Path, memory_folder: Path, lookup: Lookup, tokens: TokenSource
    ) -> None:
        """`memory_folder` takes volumes of medium Memory; both folders are the pod's own."""
        self._folder = folder
        self._memory_folder = memory_folder
        self._lookup = lookup
        self._tokens = tokens
        self._held_tokens: dict[tuple[str, tuple[str, ...]], tuple[str, float]] = {}
        self.folders: dict[str, str] = {}  # volume name to folder

    async def prepare(self, facts: PodFacts) -> None:
        """Make all of them; ConfigError while one cannot be made (try again later; what is made stays)."""
        for volume in facts.pod["spec"].get("volumes") or []:
            self.folders[volume["name"]] = str(self._place(volume))
        await self.refresh(facts)

    async def refresh(self, facts: PodFacts) -> None:
        """Write anew the files whose content has changed. ConfigError when a source that must exist is gone: files stay."""
        for volume in facts.pod["spec"].get("volumes") or []:
            sources = _sources(volume)
            if sources is None:
                continue
            files: dict[str, bytes] = {}
            for source in sources:
                files.update(await self._files(source, facts))
            write_atomically(Path(self.folders[volume["name"]]), files)

    def remove(self) -> None:
        """Delete everything but what hostPath points to."""
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.rmtree(self._memory_folder, ignore_errors=True)

    def _place(self, volume: Json) -> Path:
        if (host := volume.get("hostPath")) is not None:
            path = Path(host["path"])
            if host.get("type") == "DirectoryOrCreate":
                path.mkdir(parents=True, exist_ok=True)
            return path
        empty: Json | None = volume.get("emptyDir")
        if empty is None and _sources(volume) is None:
            raise ConfigError(
                f"volume {volume['name']}: the virtual node has no such kind: {', '.join(volume)}"
            )
        in_memory = (empty or {}).get("medium") == "Memory" and MEMORY.is_dir()
        folder = self._memory_folder if in_memory else self._folder
        path = folder / str(volume["name"])
        path.mkdir(parents=True, exist_ok=True)
        return path

    async def _files(self, source: Json, facts: PodFacts) -> dict[str, bytes]:
        namespace = facts.pod["metadata"]["namespace"]
        for kind, getter in (
            ("configMap", self._lookup.config_map),
            ("secret", self._lookup.secret),
        ):
            if (wanted := source.get(kind)) is not None:
                name = wanted.get("name") or wanted.get("secretName")
                optional = bool(wanted.get("optional"))
                found = getter(namespace, name)
                if found is None and not optional:
                    raise ConfigError(f"{kind} {name} is missing")
                return picked(payload(found or {}), wanted.get("items"), optional=optional)
        if (wanted := source.get("downwardAPI")) is not None:
            return {
                item["path"]: field(item["fieldRef"]["fieldPath"], facts).encode()
                for item in wanted["items"]
            }
        wanted = source["serviceAccountToken"]
        return {wanted["path"]: (await self._token(wanted, facts.pod)).encode()}

    async def _token(self, wanted: Json, pod: Json) -> str:
        audiences = [wanted["audience"]] if wanted.get("audience") else []
        lifetime_s = int(wanted.get("expirationSeconds") or 3600)
        held, until = self._held_tokens.get((wanted["path"], tuple(audiences)), ("", 0.0))
        if time.monotonic() >= until:
            held = await self._tokens(pod, audiences, lifetime_s)
            until = time.monotonic() + lifetime_s * TOKEN_AGE
            self._held_tokens[wanted["path"], tuple(audiences)] = (held, until)
        return held


def _sources(volume: Json) -> list[Json] | None:
    """Where a volume's files come from; None for a volume that has none."""
    if "projected" in volume:
        sources: list[Json] = volume["projected"].get("sources") or []
        return sources
    if any(kind in volume for kind in ("configMap", "secret", "downwardAPI")):
        return [volume]
    return None


def write_atomically(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Make `folder` hold exactly these files, changed all at once as the kubelet does it; False when it held them already.

    A reader that resolves `..data` once sees one consistent set; the old set is removed after the change.
    """
    link = folder / "..data"
    old = link.resolve() if link.is_symlink() else None
    if old is not None and _content(old) == dict(files):
        return False
    new = folder / f"..{time.time_ns()}"
    for name, data in files.items():
        target = new / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    new.mkdir(exist_ok=True)
    fresh_link = folder / "..data_tmp"
    fresh_link.unlink(missing_ok=True)
    fresh_link.symlink_to(new.name)
    fresh_link.rename(link)
    wanted = {name.split("/")[0] for name in files}
    for name in wanted:
        with contextlib.suppress(FileExistsError):
            (folder / name).symlink_to(Path("..data") / name)
    for entry in os.scandir(folder):
        if entry.is_symlink() and not entry.name.startswith("..") and entry.name not in wanted:
            Path(entry.path).unlink()
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)
    return True


def _content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
