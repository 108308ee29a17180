"""A name server and brokers of this process for one test, and what the test can do to them."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Self, TypeAlias, TypeVar, cast

import trio

from rocketwire.codes import ResponseCode
from rocketwire.messages.message_const import DELAY, KEYS, TAGS, UNIQ_KEY
from rocketwire.policy.resource_names import DLQ_PREFIX, RETRY_PREFIX
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.lazy_reader import StoredMessageReader
from rocketwire_broker.config import Config, read_settings
from rocketwire_broker.delayed.put_hooks import store_message
from rocketwire_broker.handlers.requests import topic_problem
from rocketwire_broker.server.programs import open_broker, open_name_server
from rocketwire_broker.state.faults import Fault, codes_of
from rocketwire_broker.state.response import Response
from rocketwire_broker.storage.message import Message
from rocketwire_broker.tables.topics import new_topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_broker.server.server import BrokerServer
    from rocketwire_broker.state.broker import Broker
    from rocketwire_tools.pytest_plugin.trio_thread import Backstage

__all__ = ["BrokerOfTest", "Reply", "RocketMQ"]

__tracebackhide__ = True  # pytest shows the line of the test instead of this file

T = TypeVar("T")

# A response, a function that creates one from the request, or None for no response
Reply: TypeAlias = RemotingCommand | Callable[[RemotingCommand], RemotingCommand | None] | None

_QUEUES: Final = 4
_HOST: Final = "127.0.0.1"
_POLL_SECONDS: Final = 0.01
_MAX_NAMED: Final = 10


class BrokerOfTest:
    """One broker of the cluster."""

    def __init__(self, backstage: Backstage, config: Config) -> None:
        self.name = config.broker_name  #: its name
        self.address = ""  #: ``host:port``; it stays the same when the broker is started again
        #: exceptions of functions that were given to ``on``; they fail the test at its end
        self.failures: list[Exception] = []
        self._backstage = backstage
        self._config = config
        self._stop: trio.Event | None = None
        self._stopped: trio.Event | None = None
        self._server: BrokerServer | None = None
        self._state: Broker | None = None

    @property
    def is_running(self) -> bool:
        return self._stop is not None

    @property
    def state(self) -> Broker:
        """Its messages and tables; look at them in ``RocketMQ.do`` only."""
        if self._state is None:
            raise RuntimeError(f"{self.name} was never started")
        return self._state

    def start(self) -> None:
        """Start it, with all that it had when it stopped; it has registered when this returns."""
        if not self.is_running:
            self._backstage.call(self._backstage.nursery.start, self._run)

    def stop(self) -> None:
        """Stop it: it unregisters, and its connections end. Its messages are kept."""
        stop, stopped = self._stop, self._stopped
        if stop is None or stopped is None:
            return
        self._backstage.do(stop.set)
        self._backstage.call(stopped.wait)

    def restart(self) -> None:
        self.stop()
        self.start()

    def cut(self) -> None:
        """Close all connections of clients."""
        if self._server is not None:
            self._backstage.do(self._server.cut)

    # ------------------------------------------------------------------ faults

    def refuse_next(
        self,
        code: int = ResponseCode.SYSTEM_BUSY,
        times: int = 1,
        *,
        requests: Iterable[int] | None = None,
        remark: str | None = None,
    ) -> None:
        """Refuse the next requests.

        Args:
            code: code of the answers: 2 for a busy broker, 14 for a full disk.
            times: number of requests.
            requests: their request codes; all that send messages, by default.
            remark: text of the answers.

        Raises:
            TypeError: ``code`` is no integer.
        """
        if not isinstance(cast("object", code), int):
            raise TypeError(f"code is a ResponseCode or another integer, not {code!r}")
        refusal = Response(code, remark or ResponseCode(code).name)
        self._add(Fault(codes_of(requests), times, refusal=refusal))

    def delay_next(
        self, seconds: float, times: int = 1, *, requests: Iterable[int] | None = None
    ) -> None:
        """Answer the next requests late; they take effect at once. For arguments see
        ``refuse_next``."""
        self._add(Fault(codes_of(requests), times, delay_ms=round(seconds * 1000)))

    def lose_next_answers(self, times: int = 1, *, requests: Iterable[int] | None = None) -> None:
        """Let the next requests take effect without an answer."""
        self._add(Fault(codes_of(requests), times, is_lost=True))

    def cut_next(self, times: int = 1, *, requests: Iterable[int] | None = None) -> None:
        """Close the connections of the next requests, which do not take effect."""
        self._add(Fault(codes_of(requests), times, is_cut=True))

    def on(self, code: int, *replies: Reply) -> None:
        """Set the responses to all requests with a code, which then take no effect.

        Args:
            code: the request code.
            replies: one for each next request; the last one is repeated.

        Raises:
            ValueError: no reply.
            TypeError: a reply is neither a ``RemotingCommand`` nor a function nor None.
        """
        if not replies:
            raise ValueError("at least one reply; None for silence")
        for reply in replies:
            if reply is not None and not isinstance(reply, RemotingCommand) and not callable(reply):
                raise TypeError(
                    "a reply is a RemotingCommand, a function of the request or None,"
                    f" not {reply!r}"
                )
        remaining = deque(replies)

        def answer(request: RemotingCommand) -> Response | None:
            reply = remaining.popleft() if len(remaining) > 1 else remaining[0]
            try:
                command = reply(request) if callable(reply) else reply
            except Exception as error:  # noqa: BLE001 - the fixture raises it
                self.failures.append(error)
                return Response(ResponseCode.SYSTEM_ERROR, f"{type(error).__name__}: {error}")
            if command is None:
                return None
            body = () if command.body is None else (bytes(command.body),)
            return Response(command.code, command.remark, command.ext_fields, body)

        self._add(Fault(codes_of([code]), sys.maxsize, script=answer))

    def clear_faults(self) -> None:
        """Drop the faults that have not happened, and all replies of ``on``."""
        self._backstage.do(self.state.faults.clear)

    def _add(self, fault: Fault) -> None:
        self._backstage.do(self.state.faults.add, fault)

    # ------------------------------------------------------------------ running

    async def _run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        stop, stopped = trio.Event(), trio.Event()
        try:
            async with open_broker(self._config, broker=self._state) as server:
                self._server, self._state = server, server.broker
                self._config = server.broker.config
                self.address = server.broker.address
                self._stop, self._stopped = stop, stopped
                task_status.started()
                await stop.wait()
        finally:
            self._server = self._stop = None
            stopped.set()

    async def advance(self, seconds: float) -> None:
        # Moves the clock; called in the thread of the servers, like ``settle``
        if self._server is not None:
            await self._server.advance(round(seconds * 1000))

    async def settle(self) -> None:
        if self._server is not None:
            await self._server.settle()

    @property
    def now(self) -> int:
        """The broker's time in milliseconds since 1970."""
        return int(time.time() * 1000) + self.state.clock_advance


class RocketMQ:
    """A name server and brokers; a context manager, created by the fixture ``rocketmq``.

    Everything listens on free ports of loopback. Messages are kept in memory.
    """

    def __init__(
        self,
        backstage: Backstage,
        *,
        brokers: int = 1,
        topics: Iterable[str] = (),
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare the cluster.

        Args:
            backstage: thread of the servers.
            brokers: number of brokers: ``broker-a``, ``broker-b`` and so on.
            topics: topics that exist from the start, on all brokers.
            settings: of the brokers, by their names in ``broker.conf``.

        Raises:
            IllegalValueError: a setting has an invalid value.
            ValueError: a setting has no meaning here.
        """
        config, unknown = read_settings(Config(listen_port=0), settings or {})
        if unknown:
            raise ValueError(f"no setting of a broker for development: {', '.join(unknown)}")
        self.address = ""  #: address of the name server, for ``namesrv_addr`` or ``setNamesrvAddr``
        self.brokers: list[BrokerOfTest] = []  #: the brokers, in the order of their creation
        self._backstage = backstage
        self._config = config
        self._count = brokers
        self._topics = [new_topic(name, _QUEUES) for name in topics]
        self._names = 0
        self._end = trio.Event()

    def __enter__(self) -> Self:
        self.address = self._backstage.call(self._backstage.nursery.start, self._run)
        for _ in range(self._count):
            self.add_broker()
        return self

    def __exit__(self, *_: object) -> None:
        for broker in self.brokers:
            broker.stop()
        self._backstage.do(self._end.set)

    @property
    def broker(self) -> BrokerOfTest:
        return self.brokers[0]

    def add_broker(self) -> BrokerOfTest:
        """Start one more broker, with the topics of the first one."""
        name = f"broker-{chr(ord('a') + len(self.brokers))}"
        config = replace(self._config, broker_name=name, namesrv_addr=self.address)
        broker = BrokerOfTest(self._backstage, config)
        broker.start()
        self.brokers.append(broker)
        for topic in self._topics:
            self._backstage.call(self._put_topic, broker, topic)
        return broker

    # ------------------------------------------------------------------ topics and messages

    def topic(self, queues: int = _QUEUES, *, name: str | None = None, order: bool = False) -> str:
        """Create a topic on all brokers; return its name, a new one by default.

        Raises:
            ValueError: the name is invalid.
        """
        self._names += 1
        name = name or f"test-topic-{self._names}"
        _check_topic(name)
        topic = new_topic(name, queues, order=order)
        self._topics.append(topic)
        for broker in self.brokers:
            self._backstage.call(self._put_topic, broker, topic)
        return str(topic.topic_name)

    def group(self) -> str:
        """Return a new name for a group."""
        self._names += 1
        return f"test-group-{self._names}"

    def produce(
        self,
        topic: str,
        *bodies: bytes,
        tag: str | None = None,
        keys: str | None = None,
        queue_id: int | None = None,
        delay_level: int = 0,
        properties: Mapping[str, str] | None = None,
        broker: BrokerOfTest | None = None,
    ) -> list[str]:
        """Store messages, as if a producer had sent them.

        Args:
            topic: the topic, created if it is missing.
            bodies: the bodies, one message for each.
            tag: the tag of all.
            keys: the keys of all, with blanks between.
            queue_id: the queue; all in turn by default.
            delay_level: Java's level of delay; 0 for none.
            properties: further properties.
            broker: the broker; the first one by default.

        Returns:
            The message ids (``UNIQ_KEY``).

        Raises:
            TypeError: a body is not bytes.
            ValueError: the name of the topic is invalid.
        """
        _check_topic(topic)
        for body in bodies:
            if not isinstance(cast("object", body), bytes):
                raise TypeError(f"a body is bytes, not {body!r}")
        fixed = dict(properties or {})
        for name, value in ((TAGS, tag), (KEYS, keys), (DELAY, delay_level or None)):
            if value is not None:
                fixed[name] = str(value)
        target = broker or self.broker
        return self._backstage.call(self._store, target, topic, bodies, fixed, queue_id)

    def messages(self, topic: str) -> list[StoredMessage]:
        """Return all stored messages of a topic, by broker and in the order of arrival."""
        return self.do(lambda: [message for one in self.brokers for message in _read(one, topic)])

    def dead_letters(self, group: str) -> list[StoredMessage]:
        return self.messages(DLQ_PREFIX + group)

    # ------------------------------------------------------------------ progress

    def lag(self, group: str, topic: str | None = None) -> int:
        """Return the number of messages that a group has not consumed, redeliveries included.

        Args:
            group: the group.
            topic: only this topic; by default all that the group subscribes to or has offsets of.
        """
        return self.do(lambda: sum(_lag(broker.state, group, topic) for broker in self.brokers))

    def wait_until_consumed(
        self, group: str, topic: str | None = None, timeout: float = 15.0
    ) -> None:
        """Wait until a group has consumed everything.

        Clients commit their offsets every five seconds by default.

        Raises:
            TimeoutError: it has not within ``timeout`` seconds.
        """
        self._wait(
            lambda: not self.lag(group, topic),
            timeout,
            lambda after: f"{group} has not consumed {self.lag(group, topic)} messages {after}",
        )

    def wait_for_messages(
        self, topic: str, count: int = 1, timeout: float = 10.0
    ) -> list[StoredMessage]:
        """Wait until a topic has so many messages; return all of them.

        Raises:
            TimeoutError: it has not within ``timeout`` seconds.
        """

        def stored() -> int:
            return self.do(lambda: sum(_count(broker.state, topic) for broker in self.brokers))

        self._wait(
            lambda: stored() >= count,
            timeout,
            lambda after: (
                f"{topic} has {stored()} messages, not {count} {after};"
                f" {self.do(self._describe_topics)}"
            ),
        )
        return self.messages(topic)

    def _describe_topics(self) -> str:
        # The topics with messages, for an error: the name may be misspelt, or the broker's
        topics = (topic for broker in self.brokers for topic in broker.state.topics)
        names = sorted({str(topic.topic_name) for topic in topics})
        counts = {
            name: sum(_count(broker.state, name) for broker in self.brokers) for name in names
        }
        texts = [f"{name} has {count}" for name, count in counts.items() if count]
        return ", ".join(texts[:_MAX_NAMED]) or "no topic has messages"

    def _wait(
        self, is_true: Callable[[], bool], timeout: float, text: Callable[[str], str]
    ) -> None:
        deadline = time.monotonic() + timeout
        while not is_true():
            if time.monotonic() > deadline:
                raise TimeoutError(text(f"after {timeout:g} s"))
            time.sleep(_POLL_SECONDS)

    # ------------------------------------------------------------------ time

    def advance(self, seconds: float) -> None:
        """Move the time of all brokers: delays, retries, timers and checks that are due happen.

        Clients keep their own time.

        Raises:
            ValueError: the time would go back, or is not a number.
        """
        if not 0 <= seconds < float("inf"):
            raise ValueError(f"advance({seconds}): must be seconds, and not negative")
        for broker in self.brokers:
            self._backstage.call(broker.advance, seconds)

    def do(self, work: Callable[[], T]) -> T:
        """Call a function in the thread of the servers, where their state may be looked at."""
        return self._backstage.do(work)

    # ------------------------------------------------------------------ in the servers' thread

    async def _run(self, *, task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED) -> None:
        async with open_name_server(0, _HOST) as address:
            task_status.started(address)
            await self._end.wait()

    async def _put_topic(self, broker: BrokerOfTest, topic: TopicConfig) -> None:
        broker.state.topics.put(topic, broker.now)
        await broker.settle()

    async def _store(
        self,
        target: BrokerOfTest,
        topic: str,
        bodies: Iterable[bytes],
        properties: Mapping[str, str],
        queue_id: int | None,
    ) -> list[str]:
        broker, now = target.state, target.now
        config = broker.topics.get(topic) or new_topic(topic, _QUEUES)
        broker.topics.put(config, now)  # the topic may be new
        ids: list[str] = []
        for body in bodies:
            queue = broker.store.put_count % config.write_queue_nums
            message = Message(
                topic=topic,
                queue_id=queue if queue_id is None else queue_id,
                body=body,
                properties={UNIQ_KEY: broker.new_unique_key(now), **properties},
                born_host=broker.store.store_host,
                born_timestamp=now,
            )
            ids.append(message.properties[UNIQ_KEY])
            store_message(broker, message, now)
        await target.settle()
        return ids


def _check_topic(name: str) -> None:
    if (problem := topic_problem(name)) is not None:
        raise ValueError(problem)


def _read(broker: BrokerOfTest, topic: str) -> Iterator[StoredMessage]:
    # By all queues, in the order in which the log has them
    reader = StoredMessageReader()
    messages = [
        message
        for queue in broker.state.store.queues(topic)
        for record in queue.records(queue.min_offset, queue.max_offset - queue.min_offset)
        for message in reader.decode(record)
    ]
    yield from sorted(messages, key=lambda message: message.commit_log_offset)


def _count(broker: Broker, topic: str) -> int:
    return sum(queue.max_offset - queue.min_offset for queue in broker.store.queues(topic))


def _lag(broker: Broker, group: str, topic: str | None) -> int:
    online = broker.members.online(group)
    topics = {*broker.offsets.topics_of(group), *(online.subscriptions if online else ())}
    if topic is not None:
        topics = {name for name in topics if name.startswith(RETRY_PREFIX)} | {topic}
    topics.add(RETRY_PREFIX + group)
    # Messages that POP hides from other consumers are not consumed before their acknowledgement
    hidden = sum(1 for message in broker.pops if message.group == group)
    return hidden + sum(
        max(0, queue.max_offset - (broker.offsets.get(group, name, queue.queue_id) or 0))
        for name in topics
        for queue in broker.store.queues(name)
    )
