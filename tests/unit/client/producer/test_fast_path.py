"""Consecutive sends over TCP to a broker in another thread: the fast path and its exits."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client import ClientConfig, Message, open_client
from rocketwire.client.producer.lifecycle import open_producer
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import BrokerError, DecodeError, IllegalMessageError, RequestTimeoutError
from rocketwire.messages.route import BrokerData
from rocketwire.testing import open_network, reply
from rocketwire.transport.channel import Channel
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire.wire.message.properties import encode_properties
from tests.support.fakes.producer_fakes import NS, A, B, route, send_response
from tests.support.tcp_pair import pair

if TYPE_CHECKING:
    import socket

    from rocketwire.client.producer.producer import Producer
    from rocketwire.transport.fastpath.direct_requests import StartedRequest


def as_java_tells(request: RemotingCommand) -> dict[str, str]:
    """What Java's brokers tell of a message that is stored at offset 7, in their order."""
    fields = request.ext_fields or {}
    key = fields["i"].removeprefix("UNIQ_KEY\x01")[:32]
    told = send_response(request).ext_fields or {}
    order = ("queueId", "transactionId", "msgId", "TRACE_ON", "MSG_REGION", "queueOffset")
    return {name: {**told, "transactionId": key}[name] for name in order}


class Broker:
    """Answers in threads of its own: it stores what it gets, but refuses and ignores what says so.

    Attributes:
        sends: what it got.
        over: through which of its connections.
        asked: to which addresses these were made.
        changed: ext fields that its answers have beside or in the place of what is true.
        untold: ext fields that they do not have.
    """

    def __init__(self) -> None:
        self.sends: list[RemotingCommand] = []
        self.over: list[int] = []
        self.asked: list[str] = []
        self.changed: dict[str, str] = {}
        self.untold: set[str] = set()
        self._threads: list[threading.Thread] = []

    def serve(self, there: socket.socket) -> None:
        """Answer over a further connection."""
        thread = threading.Thread(target=self._run, args=(there, len(self._threads)), daemon=True)
        self._threads.append(thread)
        thread.start()

    def end(self) -> None:
        """Wait until it has seen the ends of the connections."""
        for thread in self._threads:
            thread.join(10)

    def _run(self, there: socket.socket, number: int) -> None:
        decoder = CommandDecoder()
        there.settimeout(10)
        while data := there.recv(65536):
            decoder.feed(data)
            for request in iter(decoder.next_command, None):
                self._answer(there, number, request)

    def _answer(self, there: socket.socket, number: int, request: RemotingCommand) -> None:
        answer = RemotingCommand(code=0, opaque=request.opaque, flag=1)
        if request.code == Code.SEND_MESSAGE_V2:
            self.sends.append(request)
            self.over.append(number)
            told = {**as_java_tells(request), **self.changed}
            told = {name: value for name, value in told.items() if name not in self.untold}
            answer = replace(answer, ext_fields=told)
            if request.body == b"refuse":
                answer = replace(answer, code=13, remark="no", ext_fields=None)
        if request.body != b"ignore":
            there.sendall(encode(answer))


@asynccontextmanager
async def producing() -> AsyncGenerator[tuple[Producer, Broker]]:
    """A producer that has sent often enough for the short way, and its broker."""
    broker = Broker()
    with ExitStack() as pairs:
        async with open_network() as network:
            network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route("a")))

            async def connect(host: str, port: int) -> trio.abc.Stream:
                if f"{host}:{port}" == NS:
                    return await network.connect(host, port)
                broker.asked.append(f"{host}:{port}")
                stream, there = pairs.enter_context(pair())
                broker.serve(there)
                return stream

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
        assert (result.queue_offset, result.transaction_id) == (7, result.msg_id)
        assert (result.region, result.offset_msg_id[:8]) == ("R", "0A000002")


@pytest.mark.parametrize("untold", ["", "transactionId"])  # brokers before 5.0 do not tell it
async def test_an_answer_is_read_at_once_if_it_is_like_the_last_one_of_its_queue(
    untold: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []
    go_on = Channel.finish_request

    async def noted(
        self: Channel, begun: StartedRequest, code: int, deadline: float
    ) -> RemotingCommand:
        left.append(code)
        return await go_on(self, begun, code, deadline)

    async with producing() as (producer, broker):
        monkeypatch.setattr("rocketwire.transport.fastpath.direct_requests.MAX_WAIT", 10.0)
        monkeypatch.setattr(Channel, "finish_request", noted)
        broker.changed = {"queueOffset": "10", "TRACE_ON": "false", "MSG_REGION": "Q"}
        broker.untold = {untold}
        results = [await producer.send(Message("T", b"x")) for _ in range(16)]

    told = [(one.queue_offset, one.trace_on, one.region) for one in results]
    assert told == [(10, False, "Q")] * 16
    assert [one.transaction_id for one in results] == [
        None if untold else one.msg_id for one in results
    ]
    # once for each of the two queues, and again when a task is due meanwhile, as on a slow machine
    assert set(left) == {Code.SEND_MESSAGE_V2}
    assert 2 <= len(left) <= 4


async def test_user_properties_take_the_short_way_and_read_as_ever() -> None:
    messages = [
        Message("T", b"x"),
        Message("T", b"x", wait_store_msg_ok=False),
        Message("T", b"x", properties={"p": "v", "traceparent": "00-1-2-01"}),
        Message("T", b"x", tags="t", keys=["k1", "k2"], properties={"z": "%b \u00e9", "a": '"'}),
    ]
    async with producing() as (producer, broker):
        results = [await producer.send(message) for message in messages]
        with pytest.raises(IllegalMessageError, match="WAIT is reserved"):
            await producer.send(Message("T", b"x", properties={"WAIT": "v"}))
        with pytest.raises(IllegalMessageError, match="must not be blank"):
            await producer.send(Message("T", b"x", properties={"p": " "}))
        large: dict[str, Any]
        for large in ({"properties": {"p": "v" * 40_000}}, {"keys": ["k" * 40_000]}):
            with pytest.raises(IllegalMessageError, match="exceed 32767 bytes"):
                await producer.send(Message("T", b"x", **large))

    assert len(broker.sends) == 24 + len(messages)
    for message, result, request in zip(messages, results, broker.sends[24:], strict=True):
        expected = {"UNIQ_KEY": result.msg_id, **message.wire_properties()}
        assert (request.ext_fields or {})["i"] == encode_properties(expected)


async def test_what_is_not_plain_goes_the_long_way() -> None:
    async with producing() as (producer, broker):
        await producer.send(Message("T", b"x", properties={"p": "v" * 5000}))
        await producer.send(Message("T", b"x", delay_level=3))
        await producer.send(Message("T", b"x" * 5000))
        with pytest.raises(IllegalMessageError):
            await producer.send(Message("T", b""))
        with pytest.raises(IllegalMessageError):
            await producer.send(Message("T", b"x", tags="\x01"))
        assert (await producer.send(Message("T", b"x"))).is_ok

    texts = [(one.ext_fields or {})["i"] for one in broker.sends[24:]]
    assert "p\x01vv" in texts[0]
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


async def test_what_a_broker_tells_otherwise_is_taken_as_it_is_told() -> None:
    async with producing() as (producer, broker):
        broker.changed = {"queueId": "9", "TRACE_ON": "false", "MSG_REGION": "Q"}
        others = [await producer.send(Message("T", b"x")) for _ in range(8)]
        broker.changed = {"queueOffset": "many"}
        with pytest.raises(DecodeError, match="invalid response to a send"):
            await producer.send(Message("T", b"x"))
        broker.changed = {"recallHandle": "h"}
        handles = [(await producer.send(Message("T", b"x"))).recall_handle for _ in range(8)]
        broker.changed = {}
        assert [(await producer.send(Message("T", b"x"))).recall_handle for _ in range(8)] == [
            None
        ] * 8

    told = [(one.message_queue.queue_id, one.trace_on, one.region) for one in others]
    assert told == [(9, False, "Q")] * 8
    assert {one.message_queue.broker_name for one in others} == {"a"}
    assert handles == ["h"] * 8


async def test_a_channel_that_is_given_up_gets_no_more_messages() -> None:
    async with producing() as (producer, broker):
        producer.instance.pool.invalidate(A)
        for _ in range(24):
            assert (await producer.send(Message("T", b"x"))).is_ok

    assert broker.over == [0] * 24 + [1] * 24


async def test_messages_go_where_a_broker_is_now() -> None:
    async with producing() as (producer, broker):
        there = BrokerData(broker_name="a", cluster="c", broker_addrs={0: B})
        assert producer.instance.set_route("U", replace(route("a"), broker_datas=(there,)))
        for _ in range(24):
            assert (await producer.send(Message("T", b"x"))).is_ok

    assert broker.over == [0] * 24 + [1] * 24
    assert broker.asked == [A, B]


@pytest.mark.parametrize("is_on", [True, False])
async def test_the_switch_is_also_that_of_facades(
    monkeypatch: pytest.MonkeyPatch, is_on: bool
) -> None:
    monkeypatch.setattr("rocketwire.transport.fastpath.hook.is_on", is_on)
    async with open_producer(ClientConfig(namesrv_addr="127.0.0.1:1"), "pg") as producer:
        assert producer.allows_direct_sends is is_on


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
