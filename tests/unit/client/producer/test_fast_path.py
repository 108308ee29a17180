"""Consecutive sends over TCP to a broker in another thread: the fast path and its exits."""

import socket
import threading
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import trio

from rocketwire.client import ClientConfig, Message, SendResult, open_client
from rocketwire.client.producer.lifecycle import open_producer
from rocketwire.client.producer.producer import Producer
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, DecodeError, IllegalMessageError, RequestTimeoutError
from rocketwire.messages.route import BrokerData
from rocketwire.testing import open_network, reply
from rocketwire.transport.channel import Channel
from rocketwire.transport.fastpath.direct_requests import StartedRequest
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire.wire.message.properties import encode_properties
from tests.support.fakes.producer_fakes import NS, A, B, route, send_response
from tests.support.tcp_pair import pair


def build_java_response_fields(request: RemotingCommand) -> dict[str, str]:
    """The response fields of Java's brokers for a message at offset 7, in their order."""
    fields = request.ext_fields or {}
    key = fields["i"].removeprefix("UNIQ_KEY\x01")[:32]
    fields = send_response(request).ext_fields or {}
    order = ("queueId", "transactionId", "msgId", "TRACE_ON", "MSG_REGION", "queueOffset")
    return {name: {**fields, "transactionId": key}[name] for name in order}


class Broker:
    """Answers in threads of its own; it refuses the body ``refuse`` and ignores ``ignore``."""

    def __init__(self) -> None:
        self.sends: list[RemotingCommand] = []  #: requests with messages
        self.connections: list[int] = []  #: the number of the connection of each of these
        self.dialed: list[str] = []  #: the addresses of the connections
        self.replaced: dict[str, str] = {}  #: additional or different ext fields of the responses
        self.left_out: set[str] = set()  #: ext fields that responses do not have
        self._threads: list[threading.Thread] = []

    def serve(self, socket_end: socket.socket) -> None:
        """Answer over a further connection."""
        thread = threading.Thread(
            target=self._run, args=(socket_end, len(self._threads)), daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def end(self) -> None:
        """Wait until it has seen the ends of the connections."""
        for thread in self._threads:
            thread.join(10)

    def _run(self, socket_end: socket.socket, number: int) -> None:
        decoder = CommandDecoder()
        socket_end.settimeout(10)
        while data := socket_end.recv(65536):
            decoder.feed(data)
            for request in iter(decoder.next_command, None):
                self._answer(socket_end, number, request)

    def _answer(self, socket_end: socket.socket, number: int, request: RemotingCommand) -> None:
        answer = RemotingCommand(code=0, opaque=request.opaque, flag=1)
        if request.code == Code.SEND_MESSAGE_V2:
            self.sends.append(request)
            self.connections.append(number)
            fields = {**build_java_response_fields(request), **self.replaced}
            fields = {name: value for name, value in fields.items() if name not in self.left_out}
            answer = replace(answer, ext_fields=fields)
            if request.body == b"refuse":
                answer = replace(
                    answer, code=ResponseCode.MESSAGE_ILLEGAL, remark="no", ext_fields=None
                )
        if request.body != b"ignore":
            socket_end.sendall(encode(answer))


@asynccontextmanager
async def open_fast_producer() -> AsyncGenerator[tuple[Producer, Broker]]:
    """A producer that has sent often enough for the fast path, and its broker."""
    broker = Broker()
    with ExitStack() as pairs:
        async with open_network() as network:
            network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route("a")))

            async def connect(host: str, port: int) -> trio.abc.Stream:
                if f"{host}:{port}" == NS:
                    return await network.connect(host, port)
                broker.dialed.append(f"{host}:{port}")
                stream, socket_end = pairs.enter_context(pair())
                broker.serve(socket_end)
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


async def test_every_message_is_sent_in_order_and_acknowledged() -> None:
    async with open_fast_producer() as (producer, broker):
        results = [
            await producer.send(Message("T", b"%d" % number, tags="t", keys=["k"], flag=3))
            for number in range(24)
        ]

    assert [request.body for request in broker.sends] == [
        b"%d" % number for number in (*range(24),) * 2
    ]
    turns = [int((request.ext_fields or {})["e"]) for request in broker.sends]
    assert turns == [(turns[0] + number) % 2 for number in range(48)]
    assert [result.message_queue.queue_id for result in results] == turns[24:]
    assert len({result.msg_id for result in results}) == 24
    for result, request in zip(results, broker.sends[24:], strict=True):
        fields = request.ext_fields or {}
        assert fields["h"] == "3"
        properties = {"UNIQ_KEY": result.msg_id, "WAIT": "true", "TAGS": "t", "KEYS": "k"}
        assert fields["i"] == encode_properties(properties)
        assert (result.queue_offset, result.transaction_id) == (7, result.msg_id)
        assert (result.region, result.offset_msg_id[:8]) == ("R", "0A000002")


@pytest.mark.parametrize("left_out", ["", "transactionId"])  # brokers before 5.0 omit it
async def test_similar_responses_are_fast(left_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    finish = Channel.finish_request

    async def record_finish(
        self: Channel, started: StartedRequest, code: int, deadline: float
    ) -> RemotingCommand:
        codes.append(code)
        return await finish(self, started, code, deadline)

    async with open_fast_producer() as (producer, broker):
        monkeypatch.setattr("rocketwire.transport.fastpath.direct_requests.MAX_WAIT", 10.0)
        monkeypatch.setattr(Channel, "finish_request", record_finish)
        broker.replaced = {"queueOffset": "10", "TRACE_ON": "false", "MSG_REGION": "Q"}
        broker.left_out = {left_out}
        results = [await producer.send(Message("T", b"x")) for _ in range(16)]

    for result in results:
        assert (result.queue_offset, result.trace_on, result.region) == (10, False, "Q")
        assert result.transaction_id == (None if left_out else result.msg_id)
    # once for each of the two queues, and more often if a task is due, as on a slow machine
    assert set(codes) == {Code.SEND_MESSAGE_V2}
    assert 2 <= len(codes) <= 4


async def test_user_properties_are_encoded_on_the_fast_path() -> None:
    messages = [
        Message("T", b"x"),
        Message("T", b"x", wait_store_msg_ok=False),
        Message("T", b"x", properties={"p": "v", "traceparent": "00-1-2-01"}),
        Message("T", b"x", tags="t", keys=["k1", "k2"], properties={"z": "%b \u00e9", "a": '"'}),
    ]
    async with open_fast_producer() as (producer, broker):
        results = [await producer.send(message) for message in messages]
        with pytest.raises(IllegalMessageError, match="WAIT is reserved"):
            await producer.send(Message("T", b"x", properties={"WAIT": "v"}))
        with pytest.raises(IllegalMessageError, match="must not be blank"):
            await producer.send(Message("T", b"x", properties={"p": " "}))
        part: dict[str, Any]
        for part in ({"properties": {"p": "v" * 40_000}}, {"keys": ["k" * 40_000]}):
            with pytest.raises(IllegalMessageError, match="exceed 32767 bytes"):
                await producer.send(Message("T", b"x", **part))

    assert len(broker.sends) == 24 + len(messages)
    for message, result, request in zip(messages, results, broker.sends[24:], strict=True):
        expected = {"UNIQ_KEY": result.msg_id, **message.wire_properties()}
        assert (request.ext_fields or {})["i"] == encode_properties(expected)


async def test_large_and_delayed_messages_leave_the_fast_path() -> None:
    async with open_fast_producer() as (producer, broker):
        await producer.send(Message("T", b"x", properties={"p": "v" * 5000}))
        await producer.send(Message("T", b"x", delay_level=3))
        await producer.send(Message("T", b"x" * 5000))
        with pytest.raises(IllegalMessageError):
            await producer.send(Message("T", b""))
        with pytest.raises(IllegalMessageError):
            await producer.send(Message("T", b"x", tags="\x01"))
        assert (await producer.send(Message("T", b"x"))).is_ok

    texts = [(request.ext_fields or {})["i"] for request in broker.sends[24:]]
    assert "p\x01vv" in texts[0]
    assert "DELAY\x013\x02" in texts[1]
    assert len(texts) == 4


async def test_refusals_and_timeouts_are_raised() -> None:
    async with open_fast_producer() as (producer, _):
        with pytest.raises(BrokerError, match="no"):
            await producer.send(Message("T", b"refuse"))
        assert (await producer.send(Message("T", b"x"))).is_ok
        with pytest.raises(RequestTimeoutError):
            await producer.send(Message("T", b"ignore"), within=0.1)
        assert (await producer.send(Message("T", b"x"))).is_ok


async def test_different_response_fields_are_read() -> None:
    async def send_eight() -> list[SendResult]:
        return [await producer.send(Message("T", b"x")) for _ in range(8)]

    async with open_fast_producer() as (producer, broker):
        broker.replaced = {"queueId": "9", "TRACE_ON": "false", "MSG_REGION": "Q"}
        for result in await send_eight():
            queue = result.message_queue
            assert (queue.broker_name, queue.queue_id) == ("a", 9)
            assert (result.trace_on, result.region) == (False, "Q")
        broker.replaced = {"queueOffset": "many"}
        with pytest.raises(DecodeError, match="invalid response to a send"):
            await producer.send(Message("T", b"x"))
        for handle in ("h", None):
            broker.replaced = {} if handle is None else {"recallHandle": handle}
            assert [result.recall_handle for result in await send_eight()] == [handle] * 8


async def test_an_invalidated_channel_gets_no_more_messages() -> None:
    async with open_fast_producer() as (producer, broker):
        producer.instance.pool.invalidate(A)
        for _ in range(24):
            assert (await producer.send(Message("T", b"x"))).is_ok
    assert broker.connections == [0] * 24 + [1] * 24


async def test_messages_follow_a_broker_to_its_new_address() -> None:
    async with open_fast_producer() as (producer, broker):
        moved = BrokerData(broker_name="a", cluster="c", broker_addrs={0: B})
        assert producer.instance.set_route("U", replace(route("a"), broker_datas=(moved,)))
        for _ in range(24):
            assert (await producer.send(Message("T", b"x"))).is_ok

    assert broker.connections == [0] * 24 + [1] * 24
    assert broker.dialed == [A, B]


@pytest.mark.parametrize("is_on", [True, False])
async def test_producers_have_the_switch(monkeypatch: pytest.MonkeyPatch, is_on: bool) -> None:
    monkeypatch.setattr("rocketwire.transport.fastpath.direct_requests.is_on", is_on)
    async with open_producer(ClientConfig(namesrv_addr="127.0.0.1:1"), "pg") as producer:
        assert producer.allows_direct_sends is is_on


async def test_a_cancelled_task_sends_nothing() -> None:
    async with open_fast_producer() as (producer, broker):
        with trio.CancelScope() as scope:
            scope.cancel()
            await producer.send(Message("T", b"never"))
        assert scope.cancelled_caught
        assert (await producer.send(Message("T", b"x"))).is_ok

    assert b"never" not in [request.body for request in broker.sends]


async def test_concurrent_sends_are_all_acknowledged() -> None:
    async with open_fast_producer() as (producer, broker), trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(producer.send, Message("T", b"at once %d" % number))
    assert len(broker.sends) == 74
