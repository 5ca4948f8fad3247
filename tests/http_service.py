"""A small HTTP service on a loopback port that answers as a test says, one raw answer after the other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Heard:
    line: str  # POST /path HTTP/1.1
    headers: dict[str, str]  # names in lower case
    body: bytes


def answer(body: bytes | str = b"", status: str = "200 OK", **headers: str) -> bytes:
    raw = body.encode() if isinstance(body, str) else body
    given = {"Content-Length": str(len(raw)), "Connection": "close"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + raw


HANGS = b"(hangs)"


@dataclass
class Service:
    """`answers` in their order, the last one again and again; one that ends with HANGS never ends."""

    answers: list[bytes]
    port: int = 0
    heard: list[Heard] = field(default_factory=list)
    open: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/judge"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(writer)
        try:
            self.heard.append(await _read(reader))
            said = self.answers[min(len(self.heard), len(self.answers)) - 1]
            writer.write(said.removesuffix(HANGS))
            await writer.drain()
            if said.endswith(HANGS):
                await reader.read()  # until the other side has enough
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open.discard(writer)
            writer.close()


@asynccontextmanager
async def service(*answers: bytes) -> AsyncIterator[Service]:
    found = Service(list(answers))
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        for writer in tuple(found.open):
            writer.close()
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Heard:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = dict(_header(line) for line in head[1:] if line)
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Heard(head[0], headers, body)


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()
