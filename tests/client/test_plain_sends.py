"""Sends one after the other over TCP, with a broker that is no task of ours: the short way, and everything that leaves it."""

from __future__ import annotations

import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import ClientConfig, Message, open_client
from rocketwire.client.producer import Producer, open_producer
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import BrokerError, IllegalMessageError, RequestTimeoutError
from rocketwire.testing import open_network, reply
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from tests.client.producing import NS, A, route, stored
from tests.support.tcp import pair

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncGenerator


class Broker:
    """Answers in a thread of its own: it stores what it gets, but refuses and ignores what says so."""

    def __init__(self, there: socket.socket) -> None:
        self.sends: list[RemotingCommand] = []
        self._there = there
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Wait until it has seen the end of the connection."""
        self._thread.join(10)

    def _run(self) -> None:
        decoder = CommandDecoder()
        self._there.settimeout(10)
        while data := self._there.recv(65536):
            decoder.feed(data)
            for request in iter(decoder.next_command, None):
                self._answer(request)

    def _answer(self, request: RemotingCommand) -> None:
        answer = RemotingCommand(code=0)
        if request.code == Code.SEND_MESSAGE_V2:
            self.sends.append(request)
            answer = stored(request)
            if request.body == b"refuse":
                answer = RemotingCommand(code=13, remark="no")
        if request.body != b"ignore":
            fields = answer.ext_fields
            made = RemotingCommand(
                code=answer.code,
                remark=answer.remark,
                ext_fields=fields,
                opaque=request.opaque,
                flag=1,
            )
            self._there.sendall(encode(made))


@asynccontextmanager
async def producing() -> AsyncGenerator[tuple[Producer, Broker]]:
    """A producer that has sent often enough for the short way, and its broker."""
    with pair() as (stream, there):
        broker = Broker(there)
        async with open_network() as network:
            network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route("a")))

            async def connect(host: str, port: int) -> trio.abc.Stream:
                return stream if f"{host}:{port}" == A else await network.connect(host, port)

            config = ClientConfig(namesrv_addr=NS, client_ip="1.1.1.1", instance_name="i")
            async with (
                open_client(config, environment={}, connect=connect) as instance,
                open_producer(instance, "pg") as producer,
            ):
                for number in range(24):
                    await producer.send(Message("T", b"%d" % number))
                yield producer, broker
        broker.end()


async def test_every_message_is_sent_in_its_turn_and_acknowledged() -> None:
    async with producing() as (producer, broker):
        results = [
            await producer.send(Message("T", b"%d" % number, tags="t", keys=["k"], flag=3))
            for number in range(24)
        ]

    assert [one.body for one in broker.sends] == [b"%d" % number for number in (*range(24),) * 2]
    turns = [int((one.ext_fields or {})["e"]) for one in broker.sends]
    assert turns == [(turns[0] + number) % 2 for number in range(48)]
    assert [one.message_queue.queue_id for one in results] == turns[24:]
    assert len({one.msg_id for one in results}) == 24
    for result, request in zip(results, broker.sends[24:], strict=True):
        fields = request.ext_fields or {}
        assert fields["h"] == "3"
        assert (
            fields["i"]
            == f"UNIQ_KEY\x01{result.msg_id}\x02WAIT\x01true\x02TAGS\x01t\x02KEYS\x01k\x02"
        )
        assert (result.queue_offset, result.transaction_id, result.region) == (7, "TX", "R")


async def test_a_message_with_nothing_but_a_body_is_written_as_ever() -> None:
    async with producing() as (producer, broker):
        bare = await producer.send(Message("T", b"x"))
        other = await producer.send(Message("T", b"x", wait_store_msg_ok=False))

    texts = [(one.ext_fields or {})["i"] for one in broker.sends[24:]]
    assert texts == [
        f"UNIQ_KEY\x01{bare.msg_id}\x02WAIT\x01true\x02",
        f"UNIQ_KEY\x01{other.msg_id}\x02WAIT\x01false\x02",
    ]


async def test_what_is_not_plain_goes_the_long_way() -> None:
    async with producing() as (producer, broker):
        await producer.send(Message("T", b"x", properties={"p": "v"}))
        await producer.send(Message("T", b"x", delay_level=3))
        await producer.send(Message("T", b"x" * 5000))
        with pytest.raises(IllegalMessageError):
            await producer.send(Message("T", b""))
        with pytest.raises(IllegalMessageError):
            await producer.send(Message("T", b"x", tags="\x01"))
        assert (await producer.send(Message("T", b"x"))).is_ok

    texts = [(one.ext_fields or {})["i"] for one in broker.sends[24:]]
    assert "p\x01v\x02" in texts[0]
    assert "DELAY\x013\x02" in texts[1]
    assert len(texts) == 4


async def test_a_refusal_and_no_answer_are_told_as_ever() -> None:
    async with producing() as (producer, _):
        with pytest.raises(BrokerError, match="no"):
            await producer.send(Message("T", b"refuse"))
        assert (await producer.send(Message("T", b"x"))).is_ok
        with pytest.raises(RequestTimeoutError):
            await producer.send(Message("T", b"ignore"), within=0.1)
        assert (await producer.send(Message("T", b"x"))).is_ok


async def test_who_is_cancelled_sends_nothing() -> None:
    async with producing() as (producer, broker):
        with trio.CancelScope() as scope:
            scope.cancel()
            await producer.send(Message("T", b"never"))
        assert scope.cancelled_caught
        assert (await producer.send(Message("T", b"x"))).is_ok

    assert b"never" not in [one.body for one in broker.sends]


async def test_many_at_once_are_all_acknowledged() -> None:
    async with producing() as (producer, broker), trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(producer.send, Message("T", b"at once %d" % number))

    assert len(broker.sends) == 74
