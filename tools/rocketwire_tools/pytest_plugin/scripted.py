"""A broker that sends scripted responses, and records requests."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, Self, TypeAlias

import trio

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import ChannelError
from rocketwire.messages import encode_header
from rocketwire.messages.registration import (
    DataVersion,
    RegisterBrokerBody,
    RegisterBrokerRequestHeader,
    TopicConfig,
    TopicConfigAndMappingSerializeWrapper,
    encode_register_broker_body,
)
from rocketwire.transport.channel import Channel, open_channel
from rocketwire.wire.command import RemotingCommand
from rocketwire_tools.pytest_plugin.trio_thread import Backstage, host_and_port

__all__ = ["Reply", "ScriptedBroker"]

Reply: TypeAlias = RemotingCommand | Callable[[RemotingCommand], RemotingCommand | None] | None
"""A response, a function that creates one from the request, or None for no response."""

_SUCCESS: Final = RemotingCommand(code=ResponseCode.SUCCESS)
_QUEUES: Final = 4
_SELF_TEST: Final = "SELF_TEST_TOPIC"
"""Brokers always register this topic, their name and their cluster's name; a single topic of a new
broker would be refused (Java: ``RouteInfoManager.registerBroker``)."""


def _check_code(code: object) -> None:
    if not isinstance(code, int) or isinstance(code, bool):
        raise TypeError(
            f"a request code is an integer, as RequestCode.SEND_MESSAGE_V2, not {code!r}"
        )


def _name(code: int) -> str:
    """Return the name of a request code, or ``(code 9999)`` if it is unknown."""
    request_code = RequestCode(code)
    return request_code.name if request_code.is_known else f"(code {code})"


class ScriptedBroker:
    """A broker on a free port of loopback; a context manager, created by the fixture
    ``rocketmq_broker``.

    Heartbeats and unregistrations of clients succeed, and every other code is not supported, until
    ``answer`` changes that.

    Attributes:
        name: broker name.
        cluster: cluster name.
        broker_id: 0 for a master.
        topics: registered topics, four queues each.
        address: its address, ``host:port``.
        requests: all requests of clients, including one-way ones, in the order of arrival.
        failures: exceptions of scripted responses.
    """

    __slots__ = (
        *("address", "broker_id", "cluster", "failures", "name", "requests", "topics"),
        *("_backstage", "_channels", "_news", "_registrations", "_scope", "_script", "_version"),
    )
    address: str

    def __init__(
        self,
        backstage: Backstage,
        *,
        name: str = "scripted-broker",
        cluster: str = "DefaultCluster",
        broker_id: int = 0,
        topics: Iterable[str] = ("test-topic",),
    ) -> None:
        self.name = name
        self.cluster = cluster
        self.broker_id = broker_id
        self.topics = list(topics)
        self.requests: list[RemotingCommand] = []
        self.failures: list[Exception] = []
        self._backstage = backstage
        self._news = threading.Condition()
        self._channels: set[Channel] = set()
        self._registrations: dict[str, trio.CancelScope] = {}
        self._version = 0
        self._scope = trio.CancelScope()
        self._script: dict[int, deque[Reply]] = {}
        for code in (RequestCode.HEART_BEAT, RequestCode.UNREGISTER_CLIENT):
            self.answer(code, _SUCCESS)

    def __enter__(self) -> Self:
        self.address = self._backstage.call(self._backstage.nursery.start, self._run)
        return self

    def __exit__(self, *_: object) -> None:
        self._backstage.do(self._scope.cancel)
        for scope in self._registrations.values():
            self._backstage.do(scope.cancel)

    def answer(self, code: int, *replies: Reply) -> None:
        """Set the responses to requests with that code.

        Args:
            code: the request code.
            replies: one for each next request; the last one is repeated.

        Raises:
            ValueError: no reply.
            TypeError: the code is not an integer, or a reply is neither a ``RemotingCommand`` nor a
                function nor None.
        """
        _check_code(code)
        if not replies:
            raise ValueError("at least one reply; None for silence")
        for reply in replies:
            if reply is not None and not isinstance(reply, RemotingCommand) and not callable(reply):
                raise TypeError(
                    "a reply is a RemotingCommand, a function of the request or None,"
                    f" not {reply!r}"
                )
        self._script[code] = deque(replies)

    def received(self, code: int) -> list[RemotingCommand]:
        """Return the requests with that code so far."""
        with self._news:
            return [request for request in self.requests if request.code == code]

    def wait_for(
        self, code: int, count: int = 1, *, seconds: float = 10.0
    ) -> list[RemotingCommand]:
        """Wait for ``count`` requests with that code; return them.

        Blocks: under trio ``await trio.to_thread.run_sync(broker.wait_for, code)``.

        Raises:
            TimeoutError: there are fewer; the message contains their number, and other requests.
            TypeError: the code is not an integer.
            ValueError: ``count`` is less than 1.
        """
        _check_code(code)
        if count < 1:
            raise ValueError(f"count is at least 1, not {count}")
        with self._news:
            if self._news.wait_for(lambda: len(self.received(code)) >= count, seconds):
                return self.received(code)
            counts = Counter(request.code for request in self.requests)
        number = counts.pop(code, 0)
        plural = "" if count == 1 else "s"
        listed = ", ".join(f"{times} {_name(code)}" for code, times in counts.items())
        raise TimeoutError(
            f"expected {count} {_name(code)} request{plural} within {seconds:g} s, got {number}; "
            + (f"other requests: {listed}" if listed else "no other requests came")
        )

    def tell_clients(self, request: RemotingCommand) -> int:
        """Send a one-way request to every connected client; return their number."""
        return self._backstage.call(self._tell, request)

    def disconnect(self) -> None:
        """Close the connections of all clients."""
        self._backstage.call(self._disconnect)

    def register(self, name_server: str, *, seconds: float = 10.0) -> None:
        """Register with a name server, and stay connected; call it again after a change of
        ``topics``.

        Args:
            name_server: its address, ``host:port``.
            seconds: timeout of the response.

        Raises:
            ConnectFailedError: it does not listen.
            RuntimeError: it refuses, or the timeout expires.
        """
        self._version += 1
        previous = self._registrations.get(name_server)
        scope = self._registrations[name_server] = trio.CancelScope()
        start = self._backstage.nursery.start
        response = self._backstage.call(
            start, self._stay_registered, name_server, scope, self._registration(), seconds
        )
        if previous is not None:
            self._backstage.do(previous.cancel)
        if response.code != ResponseCode.SUCCESS:
            self.leave(name_server)
            code = ResponseCode(response.code)
            name = code.name if code.is_known else ""
            raise RuntimeError(
                f"{name_server} refuses the registration: code {response.code} {name},"
                f" {response.remark}"
            )

    def leave(self, name_server: str) -> None:
        """Close the connection to a name server, which then removes the broker."""
        scope = self._registrations.pop(name_server, None)
        if scope is not None:
            self._backstage.do(scope.cancel)

    async def _run(self, *, task_status: trio.TaskStatus[str]) -> None:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port: int = listeners[0].socket.getsockname()[1]
        with self._scope:
            task_status.started(f"127.0.0.1:{port}")
            await trio.serve_listeners(self._serve, listeners)

    async def _serve(self, stream: trio.SocketStream) -> None:
        try:
            async with trio.open_nursery() as nursery:
                channel = Channel(
                    stream, nursery, peer="client", handler=self._handle, idle_timeout=None
                )
                self._channels.add(channel)
                try:
                    await channel.read()
                finally:
                    self._channels.discard(channel)
        finally:
            await trio.aclose_forcefully(stream)

    async def _handle(self, request: RemotingCommand) -> RemotingCommand | None:
        with self._news:
            self.requests.append(request)
            self._news.notify_all()
        replies = self._script.get(request.code)
        if replies is None:
            remark = f" request type {request.code} not supported"
            return RemotingCommand(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)
        reply = replies.popleft() if len(replies) > 1 else replies[0]
        if not callable(reply):
            return reply
        try:
            return reply(request)
        except Exception as error:
            self.failures.append(error)
            raise

    async def _tell(self, request: RemotingCommand) -> int:
        channels = [channel for channel in self._channels if channel.is_open]
        for channel in channels:
            await channel.send_oneway(request)
        return len(channels)

    async def _disconnect(self) -> None:
        for channel in list(self._channels):
            await channel.aclose()

    def _registration(self) -> RemotingCommand:
        header = RegisterBrokerRequestHeader(
            broker_name=self.name,
            broker_addr=self.address,
            cluster_name=self.cluster,
            ha_server_addr=self.address,
            broker_id=self.broker_id,
        )
        topics = {
            topic: TopicConfig(topic_name=topic, read_queue_nums=_QUEUES, write_queue_nums=_QUEUES)
            for topic in (_SELF_TEST, self.name, self.cluster, *self.topics)
        }
        version = DataVersion(counter=self._version, timestamp=int(time.time() * 1000))
        wrapper = TopicConfigAndMappingSerializeWrapper(
            data_version=version, topic_config_table=topics
        )
        body = RegisterBrokerBody(topic_config_serialize_wrapper=wrapper)
        return RemotingCommand(
            code=RequestCode.REGISTER_BROKER,
            ext_fields=encode_header(header),
            body=encode_register_broker_body(body, compressed=False),
        )

    async def _stay_registered(
        self,
        name_server: str,
        scope: trio.CancelScope,
        request: RemotingCommand,
        seconds: float,
        *,
        task_status: trio.TaskStatus[RemotingCommand],
    ) -> None:
        host, port = host_and_port(name_server)
        timed_out = RemotingCommand(code=ResponseCode.SYSTEM_ERROR, remark="no answer in time")
        with scope:
            async with open_channel(host, port, handler=self._handle) as channel:
                response = timed_out
                try:
                    with trio.move_on_after(seconds):
                        response = await channel.request(request)
                except ChannelError as error:
                    response = replace(timed_out, remark=str(error))
                task_status.started(response)
                await trio.sleep_forever()
