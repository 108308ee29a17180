"""Bytes that a peer has not read yet."""

import socket
from collections.abc import Generator
from contextlib import contextmanager

import trio

from rocketwire.serving.sockets import SocketStream
from rocketwire.wire.message.host import Host
from rocketwire_broker.protocol.session import Session
from rocketwire_broker.server.connection import Connection
from rocketwire_broker.tables.members import Peer
from tests.support.broker import BrokerAtHand

LARGE = 4 << 20
"""More bytes than a socket takes at once."""


@contextmanager
def connect_peer(tasks: trio.Nursery) -> Generator[tuple[Connection, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        peer_socket = socket.create_connection(listener.getsockname())
        accepted, _ = listener.accept()
    peer = Peer(1, "127.0.0.1:1", Host(bytes(4), 1))
    stream = SocketStream(accepted, send_buffer=8192)
    session = Session(BrokerAtHand().broker, peer)
    with peer_socket, accepted:
        yield Connection(stream, peer, session, tasks, lambda _peer: None), peer_socket


async def test_what_the_socket_does_not_take_follows_in_order() -> None:
    async with trio.open_nursery() as tasks:
        with connect_peer(tasks) as (connection, peer):
            connection.peer.unsent = LARGE + 2
            connection.write([b"a" * LARGE, b"b"])
            connection.write([b"c"])
            reader = trio.socket.from_stdlib_socket(peer.dup())
            received = bytearray()
            with trio.fail_after(60), reader:
                while len(received) < LARGE + 2:
                    received += await reader.recv(1 << 20)
                await connection.drain()

    assert received == b"a" * LARGE + b"bc"
    assert connection.peer.unsent == 0


async def test_what_a_slow_reader_leaves_is_counted() -> None:
    async with trio.open_nursery() as tasks:
        with connect_peer(tasks) as (connection, _):
            connection.peer.unsent = LARGE
            connection.write([b"a" * LARGE])

            assert connection.sending
            assert 0 < connection.peer.unsent < LARGE
            tasks.cancel_scope.cancel()


async def test_a_connection_that_is_broken_is_closed() -> None:
    async with trio.open_nursery() as tasks:
        with connect_peer(tasks) as (connection, _):
            connection.socket.socket.shutdown(socket.SHUT_WR)
            connection.write([b"a"])

    assert connection.scope.cancel_called
