"""Where the demo's weights lie: a folder that every pod mounts, or a bucket of an S3 server that is started for it."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

from demo.screen import Screen
from fleet.manifests import secret
from fleet.world import World
from objectstore.server import S3Server, started

BUCKET: Final = "weights"
SECRET: Final = "weights-reader"
SOURCES: Final = ("file", "s3")


class Origin(Protocol):
    """What a trainer writes to and agents read from."""

    @property
    def name(self) -> str:
        """Of SOURCE."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Whose keys agents have in their environment."""

    async def publish(self, folder: Path, name: str) -> str:
        """Its URI, once all of it lies there."""


class Volume:
    """file://: what was written is already where agents look."""

    name = "file"
    secrets: tuple[str, ...] = ()

    async def publish(self, folder: Path, name: str) -> str:
        return folder.resolve().as_uri() + "/"


class Bucket:
    """s3://: uploaded with the trainer's keys, read with those that the agents get."""

    name = "s3"
    secrets: tuple[str, ...] = (SECRET,)

    def __init__(self, server: S3Server, screen: Screen) -> None:
        self._server, self._screen = server, screen

    async def publish(self, folder: Path, name: str) -> str:
        uri = f"s3://{BUCKET}/chat/{name}/"
        self._screen.say(f"uploading {name} to {uri}")
        await asyncio.to_thread(self._server.upload, folder, BUCKET, f"chat/{name}")
        return uri


@asynccontextmanager
async def origin(source: str, world: World, screen: Screen) -> AsyncIterator[Origin]:
    """Ready for a fleet whose agents name `secrets`. `source`: one of SOURCES."""
    if source == "file":
        yield Volume()
        return
    with (
        tempfile.TemporaryDirectory(prefix="weightrollout-s3-") as folder,
        started(Path(folder)) as server,
    ):
        await asyncio.to_thread(server.bucket, BUCKET)
        await world.apply(secret(SECRET, server.environment()))
        screen.say(f"weights come from a bucket of an S3 server at http://{server.address};")
        screen.more(f"agents get their keys for it from the Secret {SECRET}")
        yield Bucket(server, screen)
