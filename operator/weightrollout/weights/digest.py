"""The content of a checkpoint folder by name: sha256 of what `sha256sum` prints over its files.

Standard library only, no import of any other room. Anyone can check a digest with coreutils:

    cd FOLDER && LC_ALL=C; sha256sum FILES... | sha256sum

where FILES are those that match `PATTERNS`, in byte order. All else in the folder is ignored:
subfolders, and names with a leading dot, as a shell's `*` ignores them.
"""

import fnmatch
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

TENSORS: Final = "*.safetensors"
TENSORS_INDEX: Final = "*.safetensors.index.json"
GOLDEN: Final = "golden.json"
#: What an engine reads once, at its start: the meaning of tokens and weights, and how requests and
#: samples are shaped.
METADATA: Final = (
    "config.json",
    "generation_config.json",
    "tokenizer*",
    "special_tokens_map.json",
    "vocab.json",
    "merges.txt",
    "*.tiktoken",
    "chat_template*",
    "*processor_config.json",
)
PATTERNS: Final = (TENSORS, TENSORS_INDEX, *METADATA, GOLDEN)

CHUNK: Final = 1 << 20
ALGORITHM: Final = "sha256:"


class Bytes(Protocol):
    """An open file, here or behind a network. It may give less than asked for; nothing is its end."""

    def read(self, size: int, /) -> bytes | None: ...

    def readinto(self, buffer: bytearray | memoryview, /) -> int | None: ...

    def seek(self, offset: int, /) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> object: ...


class FolderError(ValueError):
    """A file that must not count towards a digest. `reason` is CamelCase."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def matching_files(folder: Path, patterns: tuple[str, ...] = PATTERNS) -> list[str]:
    """Names of the files that count, in LC_ALL=C order.

    Raises OSError where the folder cannot be listed, and FolderError for a link that leaves the
    folder, for anything that is neither file nor folder, and for a name that sha256sum escapes.
    """
    names = (each.name for each in folder.iterdir() if matches(each.name, patterns))
    return sorted((name for name in names if _counts(folder, name)), key=os.fsencode)


def counting(names: Iterable[str]) -> list[str]:
    """The same for names that something else than a folder listed. Raises FolderError."""
    found = sorted((name for name in names if matches(name, PATTERNS)), key=os.fsencode)
    for name in found:
        _check_name(name)
    return found


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    return not name.startswith(".") and any(fnmatch.fnmatchcase(name, each) for each in patterns)


def metadata_hashes(folder: Path) -> dict[str, str]:
    """File name -> sha256 hex of all that an engine reads at its start (EngineReport.file_hashes).

    An engine follows links, so this does: a folder of the Hugging Face cache is nothing else.
    """
    names = (each.name for each in folder.iterdir() if matches(each.name, METADATA))
    return {name: sha256_of(folder / name) for name in sorted(names) if (folder / name).is_file()}


def digest_from_sums(sums: Mapping[str, str]) -> str:
    """File name -> sha256 hex, made one digest: "sha256:<64 hex>"."""
    listing = b"".join(
        f"{sums[name]}  ".encode() + os.fsencode(name) + b"\n"
        for name in sorted(sums, key=os.fsencode)
    )
    return ALGORITHM + hashlib.sha256(listing).hexdigest()


def digest_of(folder: Path, *, threads: int, progress: Callable[[int], None] | None = None) -> str:
    """Hash a folder, `threads` files at a time. `progress` is given all bytes hashed so far.

    Raises FolderError, OSError.
    """
    sums = sums_by(
        lambda name, count: sha256_of(folder / name, count),
        matching_files(folder),
        threads=threads,
        progress=progress,
    )
    return digest_from_sums(sums)


def sums_by(
    sha256: Callable[[str, Callable[[int], None]], str],
    names: Sequence[str],
    *,
    threads: int,
    progress: Callable[[int], None] | None,
) -> dict[str, str]:
    """File name -> sha256 hex. `sha256`: a name made hex, by a call that counts the bytes it reads.

    Raises what that raises.
    """
    done = 0
    lock = threading.Lock()

    def count(size: int) -> None:
        nonlocal done
        with lock:
            done += size
            if progress is not None:
                progress(done)

    with ThreadPoolExecutor(threads, thread_name_prefix="digest") as pool:
        sums = pool.map(lambda name: sha256(name, count), names)
        return dict(zip(names, sums, strict=True))


def sha256_of(path: Path, count: Callable[[int], None] | None = None) -> str:
    """Hex sha256 of one file; `count` is given the size of each chunk read."""
    with path.open("rb", buffering=0) as file:
        return sha256_from(file, count)


def read_up_to(file: Bytes, size: int) -> bytes:
    """Less only where the file ends."""
    found = bytearray()
    while len(found) < size and (part := file.read(size - len(found))):
        found += part
    return bytes(found)


def sha256_from(file: Bytes, count: Callable[[int], None] | None = None) -> str:
    """Of all that comes from here to the end."""
    hasher = hashlib.sha256()
    buffer = bytearray(CHUNK)
    view = memoryview(buffer)
    while size := file.readinto(buffer):
        hasher.update(view[:size])
        if count is not None:
            count(size)
    return hasher.hexdigest()


def _counts(folder: Path, name: str) -> bool:
    """False for a subfolder."""
    path = folder / name
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        if path.is_symlink():
            raise FolderError("LinkBroken", f"{name}: link leads nowhere") from error
        raise
    if path.is_symlink() and not target.is_relative_to(folder.resolve()):
        raise FolderError(
            "LinkLeavesFolder",
            f"{name}: link leaves the folder, to {target}; copy the file instead",
        )
    mode = target.stat().st_mode
    if stat.S_ISDIR(mode):
        return False
    if not stat.S_ISREG(mode):
        raise FolderError("NotAFile", f"{name}: is neither a file nor a folder")
    _check_name(name)
    return True


def _check_name(name: str) -> None:
    # sha256sum escapes these, and which of them depends on its version: no digest may hang on it.
    if any(sign in name for sign in "\\\n\r"):
        raise FolderError("NameRefused", f"{name!r}: file names must not hold backslash or newline")
