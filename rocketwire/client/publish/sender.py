"""``MessageSender``: the topics of a producer, queue choice, attempts and retries.

Java: ``DefaultMQProducerImpl`` (``topicPublishInfoTable``, ``tryToFindTopicPublishInfo``,
``sendDefaultImpl``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import trio

from rocketwire.client.addresses import vip_address
from rocketwire.client.publish.request_builder import Target, decode_send_result, wire_topic
from rocketwire.errors import (
    BrokerError,
    BrokerNotFoundError,
    ChannelError,
    ConnectFailedError,
    IllegalAddressError,
    RequestTimeoutError,
    RocketWireError,
    SendFailedError,
    TopicRouteNotFoundError,
)
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.queue_selection import FaultStrategy
from rocketwire.policy.retry import (
    CommunicationMode,
    Failure,
    count_attempts,
    judge,
    tries_again_when_stored,
)
from rocketwire.policy.routing import DEFAULT_TOPIC, default_route, publish_info

if TYPE_CHECKING:
    import random

    from rocketwire.client.hooks import HookChain
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.publish.config import ProducerConfig
    from rocketwire.client.publish.direct_send import DirectSend
    from rocketwire.client.publish.request_builder import OutgoingMessage, QueueTemplate
    from rocketwire.client.send_result import SendResult
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.transport.fastpath.direct_requests import StartedRequest


# Errors after which another attempt may succeed
_FAILURES: Final = (BrokerError, ChannelError, BrokerNotFoundError)


class _Attempt(NamedTuple):
    result: SendResult | None
    error: RocketWireError | None
    retry: bool

    @property
    def sent_nothing(self) -> bool:
        # whether there was no connection, so that another attempt cannot store a second copy
        error = self.error
        return isinstance(error, ConnectFailedError) and not isinstance(error, IllegalAddressError)


class MessageSender:
    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        config: ProducerConfig,
        chance: random.Random,
        *,
        adds_namespace: bool = True,  # that of the client, to topics of ``send``
    ) -> None:
        self.hooks: HookChain | None = None  # hooks that see retries; None without hooks
        self._instance = instance
        self._group = group
        self._config = config
        self._chance = chance
        self._adds_namespace = adds_namespace
        self._max_attempts = count_attempts(
            CommunicationMode.SYNC, config.retry_times_when_send_failed
        )
        self._pause = config.retry_interval if self._max_attempts > 1 else 0.0
        self.targets: dict[str, Target] = {}  # topics with queues, by name with namespace
        self._topics: dict[str, None] = {}
        # slow and failing brokers
        self.faults: Final = FaultStrategy(
            enabled=config.send_latency_enable, detecting=config.start_detector_enable
        )

    # ------------------------------------------------------------------ topics

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(self._topics)

    def set_route(self, topic: str, route: TopicRouteData) -> None:
        info = publish_info(topic, route)
        if info.queues:
            self.targets[topic] = Target(topic, info, start=self._chance.getrandbits(31))
        else:
            self.targets.pop(topic, None)

    async def find_target(self, topic: str) -> Target:
        target = self.targets.get(topic)
        if target is not None:
            return target
        self._topics[topic] = None
        try:
            self.set_route(topic, await self._instance.route(topic))
            if topic not in self.targets:
                await self._instance.refresh_route(topic)
                self.set_route(topic, await self._instance.route(topic))
        except TopicRouteNotFoundError:
            await self._use_default_route(topic)
        target = self.targets.get(topic)
        if target is None:
            raise TopicRouteNotFoundError(topic)
        return target

    async def has_broker_before_5(self, target: Target) -> bool:
        names = dict.fromkeys(target.info.broker_name(queue) for queue in target.info.queues)
        addresses = [self._instance.routes.master(name) for name in names]
        return any([await self._instance.is_before_5(a) for a in addresses if a is not None])

    async def _use_default_route(self, topic: str) -> None:
        try:
            route = await self._instance.name_servers.route(DEFAULT_TOPIC)
        except TopicRouteNotFoundError:
            return
        route = default_route(route, self._config.default_topic_queue_nums)
        self._instance.set_route(topic, route)
        self.set_route(topic, route)

    # ------------------------------------------------------------------ attempts

    async def send(
        self, topic: str, message: OutgoingMessage, within: float, started: DirectSend | None = None
    ) -> SendResult:
        """Send to the next queue, and to another broker if that fails.

        ``started`` is the first attempt, over a channel of the pool, if it was started by now.
        """
        deadline = trio.current_time() + within
        sent_request = None
        if started is not None:
            target, queue, sent_request = started.target, started.queue, started.request
        else:
            name = wire_topic(self._instance.config, topic) if self._adds_namespace else topic
            target = self.targets.get(name) or await self.find_target(name)
            queue = self._select_queue(target, [])
        end = self._attempt_deadline(deadline, is_last=self._max_attempts == 1)
        last = await self._attempt(topic, target, queue, message, end, sent_request)
        if last.result is not None and not last.retry:
            return last.result
        return await self._retry(topic, target, message, deadline, queue, last)

    async def send_after_failure(
        self, topic: str, started: DirectSend, error: RocketWireError, remaining: float
    ) -> SendResult:
        """Continue a send whose first attempt, over a connection of its own, has failed."""
        now = trio.current_time()
        target, queue, outgoing = started.target, started.queue, started.outgoing()
        last = self._judge_failure(queue, error, now)
        return await self._retry(topic, target, outgoing, now + remaining, queue, last)

    async def _retry(
        self,
        topic: str,
        target: Target,
        message: OutgoingMessage,
        deadline: float,
        queue: MessageQueue,
        last: _Attempt,
    ) -> SendResult:
        # Before another attempt at the same broker there is a pause. Attempts without a connection
        # do not count, so that the restart of a broker is waited for.
        brokers = [queue.broker_name or ""]
        left = self._max_attempts - (not (self._pause and last.sent_nothing))
        while last.retry and left > 0 and trio.current_time() < deadline:
            target = self.targets.get(target.topic) or target
            queue = self._select_queue(target, brokers)
            broker = queue.broker_name or ""
            if self._pause and broker in brokers:
                if trio.current_time() + self._pause < deadline:
                    await trio.sleep(self._pause)
                elif last.sent_nothing:
                    break
            if self.hooks is not None:
                self.hooks.retry(self._instance, topic, broker)
            brokers.append(broker)
            attempt_deadline = self._attempt_deadline(deadline, is_last=left == 1)
            last = await self._attempt(topic, target, queue, message, attempt_deadline)
            left -= not (self._pause and last.sent_nothing)
        return self._finish(topic, last, brokers)

    def _select_queue(self, target: Target, brokers: list[str]) -> MessageQueue:
        if not brokers and not self.faults.enabled:
            return target.rotation.next_queue()
        if brokers and self.faults.enabled:
            target.rotation.restart(self._chance.getrandbits(31))
        last_broker = brokers[-1] if brokers else None
        return self.faults.select(target.rotation, last_broker, now=trio.current_time())

    def _attempt_deadline(self, deadline: float, *, is_last: bool) -> float:
        timeout = self._config.send_msg_max_timeout_per_request
        if timeout is None or is_last:
            return deadline
        return min(deadline, trio.current_time() + timeout)

    @staticmethod
    def _finish(topic: str, last: _Attempt, brokers: list[str]) -> SendResult:
        if last.result is not None:
            return last.result
        error = last.error
        if error is not None and (len(brokers) == 1 or not last.retry):
            raise _name_broker(error, brokers[-1])
        raise SendFailedError(topic, tuple(brokers)) from error

    async def _attempt(
        self,
        topic: str,
        target: Target,
        queue: MessageQueue,
        message: OutgoingMessage,
        deadline: float,
        sent_request: StartedRequest | None = None,
    ) -> _Attempt:
        started = trio.current_time()
        try:
            result = await self.send_once(topic, target, queue, message, deadline, sent_request)
        except _FAILURES as error:
            return self._judge_failure(queue, error, started)
        self._record_fault(queue, started, isolate=False, reachable=True)
        retry = tries_again_when_stored(
            result.status, retry_another_broker=self._config.retry_another_broker_when_not_store_ok
        )
        return _Attempt(result, None, retry)

    def _judge_failure(
        self, queue: MessageQueue, error: RocketWireError, started: float
    ) -> _Attempt:
        failure, code = Failure.CLIENT, None
        if isinstance(error, BrokerError):
            failure, code = Failure.BROKER, int(error.code)
        elif isinstance(error, ChannelError):
            failure = Failure.TRANSPORT
        verdict = judge(
            CommunicationMode.SYNC,
            failure,
            code,
            detecting=self._config.start_detector_enable,
            retry_codes=self._config.retry_response_codes,
        )
        self._record_fault(queue, started, isolate=verdict.isolate, reachable=verdict.reachable)
        return _Attempt(None, error, verdict.retry)

    def _record_fault(
        self, queue: MessageQueue, started: float, *, isolate: bool, reachable: bool
    ) -> None:
        if self.faults.enabled:
            now = trio.current_time()
            name = queue.broker_name or ""
            self.faults.update(name, now - started, isolate=isolate, reachable=reachable, now=now)

    async def send_to_queue(
        self,
        topic: str,
        target: Target,
        queue: MessageQueue,
        message: OutgoingMessage,
        deadline: float,
    ) -> SendResult:
        """Make one attempt with a connection, which is waited for; see ``send_once``."""
        while True:
            try:
                return await self.send_once(topic, target, queue, message, deadline)
            except IllegalAddressError:
                raise
            except ConnectFailedError as error:
                if not self._pause or trio.current_time() + self._pause >= deadline:
                    raise _name_broker(error, queue.broker_name or "") from error.__cause__
            await trio.sleep(self._pause)

    async def send_once(
        self,
        topic: str,
        target: Target,
        queue: MessageQueue,
        message: OutgoingMessage,
        deadline: float,
        sent_request: StartedRequest | None = None,
    ) -> SendResult:
        instance = self._instance
        address, template = await self._locate(target, queue)
        request = message.build_request(template, instance.config, self._config)
        now = trio.current_time()
        if now >= deadline:
            raise RequestTimeoutError(address, message.code, 0.0)
        response = await instance.pool.request_by(
            address, request, started=now, deadline=deadline, sent_request=sent_request
        )
        result_queue = queue
        if topic != queue.topic:
            result_queue = MessageQueue(
                topic=topic, broker_name=queue.broker_name, queue_id=queue.queue_id
            )
        result = decode_send_result(response, message.msg_id, result_queue)
        if result is None:
            raise BrokerError(response.code, response.remark, message.code, address)
        return result

    async def send_oneway(
        self, target: Target, queue: MessageQueue, message: OutgoingMessage
    ) -> None:
        instance = self._instance
        address, template = await self._locate(target, queue)
        command = message.build_command(template.fields, instance.config, self._config)
        await instance.pool.send_oneway(address, command, within=self._config.send_msg_timeout)

    def get_template(self, target: Target, queue: MessageQueue) -> QueueTemplate:
        instance = self._instance
        use_form = not instance.pool.changes_requests
        return target.get_template(
            queue, self._group, self._config, instance.config, use_form=use_form
        )

    async def _locate(self, target: Target, queue: MessageQueue) -> tuple[str, QueueTemplate]:
        instance, template = self._instance, self.get_template(target, queue)
        name = template.broker_name
        address = instance.routes.master(name) or await instance.master(name, target.topic)
        if instance.config.vip_channel_enabled:
            address = vip_address(address)
        return address, template


def _name_broker(error: RocketWireError, broker_name: str) -> RocketWireError:
    if type(error) is not ConnectFailedError:
        return error
    return ConnectFailedError(f"broker {broker_name} at {error}")
