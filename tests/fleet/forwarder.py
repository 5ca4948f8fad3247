"""A way to a TCP server that a test can cut: then connections break, and no new one is answered."""

import asyncio
from types import TracebackType
from typing import Self


class Forwarder:
    """Use as a context manager; `port` of 127.0.0.1 leads to the server while it is not cut."""

    def __init__(self, host: str, port: int) -> None:
        self.port = 0
        self._to = (host, port)
        self._open = asyncio.Event()
        self._open.set()
        self._server: asyncio.Server | None = None
        self._lines: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
        await self._break()

    async def cut(self) -> None:
        self._open.clear()
        await self._break()

    def mend(self) -> None:
        self._open.set()

    async def _break(self) -> None:
        for line in tuple(self._lines):
            line.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = asyncio.create_task(self._forward(reader, writer))
        self._lines.add(line)
        line.add_done_callback(self._lines.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._open.wait()  # cut: accepted and never answered, as by a dead network
            far_reader, far_writer = await asyncio.open_connection(*self._to)
        except OSError:
            writer.close()
            return
        except asyncio.CancelledError:
            writer.close()
            raise
        try:
            ways = {
                asyncio.create_task(_pour(reader, far_writer)),
                asyncio.create_task(_pour(far_reader, writer)),
            }
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        finally:
            writer.close()
            far_writer.close()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # one side is gone: the other is closed by who called us
