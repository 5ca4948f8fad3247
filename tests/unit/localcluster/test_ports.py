"""A port that an engine comes back to: it must be free between two of its lives, whoever else asks for ports meanwhile."""

import asyncio
import socket

import grpc.aio
import pytest

from ports import kept_ports


def test_kept_port_is_refused_to_whoever_does_not_share_and_never_given_away() -> None:
    with kept_ports(1) as (port,), socket.socket() as other:
        with pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
        with kept_ports(2000) as many:
            assert len({*many, port}) == 2001


async def test_servers_of_every_kind_bind_a_kept_port_again_and_again() -> None:
    with kept_ports(1) as (port,):
        for _ in range(3):
            answers = await asyncio.start_server(_hang_up, "127.0.0.1", port)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await reader.read()
            writer.close()
            answers.close()
            await answers.wait_closed()
            calls = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
            assert calls.add_insecure_port(f"127.0.0.1:{port}") == port
            await calls.start()
            await calls.stop(None)


async def test_kept_port_without_a_server_refuses_connections() -> None:
    with kept_ports(1) as (port,), pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def _hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()
