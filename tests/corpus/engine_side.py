"""Judges of what an engine answers over HTTP."""

import asyncio
from pathlib import Path

from weightrollout.engine.errors import EngineError
from weightrollout.engine.vllm_http import RUNNING, VllmHttp, total

MODELS = b'{"data":[{"id":"m"}]}'
#: An answer that never ends is cut by the deadline; all others come at once.
DEADLINE_S = 5.0


def metrics(data: bytes, _: Path) -> str:
    try:
        total(data.decode(errors="replace"), RUNNING)
    except EngineError as error:
        return error.reason
    return "Number"


def completion(data: bytes, _: Path) -> str:
    """`data` is what the socket says, head and body."""
    return asyncio.run(_ask(data))


async def _ask(data: bytes) -> str:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await reader.readuntil(b"\r\n\r\n")
            models = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
            writer.write(models % (len(MODELS), MODELS) if b"/v1/models" in asked else data)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has read enough
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    http = VllmHttp(f"http://{host}:{port}")
    try:
        text = await http.complete("2+2=", max_tokens=4, deadline_s=DEADLINE_S)
    except EngineError as error:
        error.message.encode()
        return error.reason
    finally:
        await http.close()
        server.close()
    text.encode()
    return "Answered"
