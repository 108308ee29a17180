"""Where a producer's messages may go, and one try to bring one there.

Java: ``DefaultMQProducerImpl`` (``topicPublishInfoTable``, ``tryToFindTopicPublishInfo``,
``sendDefaultImpl``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.addresses import vip_address
from rocketwire.client.producer.request_builder import Target, read_result, wire_topic
from rocketwire.errors import (
    BrokerError,
    BrokerNotFoundError,
    ChannelError,
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
    judge,
    tries,
    tries_again_when_stored,
)
from rocketwire.policy.routing import DEFAULT_TOPIC, default_route, publish_info
from rocketwire.wire.values.named import NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.producer.config import ProducerConfig
    from rocketwire.client.producer.request_builder import Outgoing, Way
    from rocketwire.client.producer.send_result import SendResult
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.transport.fastpath.request import Begun


_FAILURES: Final = (BrokerError, ChannelError, BrokerNotFoundError)
"""What another try may help against."""


class _Try(NamedTuple):
    """How a try ended: with a result, or with an error and what follows from it."""

    result: SendResult | None
    error: RocketWireError | None
    again: bool


class FirstTry(NamedTuple):
    """The first try of a send.

    Attributes:
        target: the topic.
        queue: one of its queues.
        started: when it began, time of trio's clock.
        deadline: when all tries end.
        begun: the request, where it was sent already.
    """

    target: Target
    queue: MessageQueue
    started: float
    deadline: float
    begun: Begun | None


class Publishing:
    """The topics of one producer, and the way to their brokers.

    Attributes:
        faults: what is known of slow and failing brokers.
        is_plain: whether nothing is noted of tries, and the first may take all the time there is.
    """

    def __init__(
        self, instance: ClientInstance, group: str, config: ProducerConfig, chance: random.Random
    ) -> None:
        """No topic is known yet.

        Args:
            instance: carries the requests.
            group: with its namespace.
            config: of the producer.
            chance: where turns begin.
        """
        self._instance = instance
        self._group = group
        self._config = config
        self._chance = chance
        self._targets: dict[str, Target] = {}
        self._wanted: dict[str, None] = {}
        self.is_plain = not (
            config.send_latency_enable
            or config.retry_another_broker_when_not_store_ok
            or config.send_msg_max_timeout_per_request is not None
        )
        self.faults = FaultStrategy(
            enabled=config.send_latency_enable, detecting=config.start_detector_enable
        )

    # ------------------------------------------------------------------ topics

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics, as brokers know them, that were sent to."""
        return tuple(self._wanted)

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        """A topic lives elsewhere now.

        One without queues to write to is looked for again by the next send.
        """
        info = publish_info(topic, route)
        if info.queues:
            self._targets[topic] = Target(topic, info, start=self._chance.getrandbits(31))
        else:
            self._targets.pop(topic, None)

    @property
    def targets(self) -> Mapping[str, Target]:
        """Topics whose queues are known, by their names on the wire."""
        return self._targets

    def known(self, topic: str) -> Target | None:
        """The topic's queues, if they are known."""
        return self._targets.get(topic)

    async def target(self, topic: str) -> Target:
        """The topic's queues; those that it would be created with if there is none of it yet.

        Args:
            topic: as brokers know it.

        Raises:
            TopicRouteNotFoundError: there is neither the topic nor a broker that creates topics.
            ClientError, ChannelError: as of ``NameServers.call``.
        """
        found = self._targets.get(topic)
        if found is not None:
            return found
        self._wanted[topic] = None
        try:
            self.route_changed(topic, await self._instance.route(topic))
            if topic not in self._targets:
                await self._instance.refresh_route(topic)
                self.route_changed(topic, await self._instance.route(topic))
        except TopicRouteNotFoundError:
            await self._stand_in(topic)
        found = self._targets.get(topic)
        if found is None:
            raise TopicRouteNotFoundError(topic)
        return found

    async def is_anywhere_before_5(self, target: Target) -> bool:
        """Whether one of the topic's brokers is older than 5.0.

        One that nobody knows an address of is not.
        """
        names = dict.fromkeys(target.info.broker_name(queue) for queue in target.info.queues)
        found = (self._instance.routes.master(name) for name in names)
        return any([await self._instance.is_before_5(one) for one in found if one is not None])

    async def _stand_in(self, topic: str) -> None:
        """Take the queues with which the topic would be created."""
        try:
            route = await self._instance.name_servers.route(DEFAULT_TOPIC)
        except TopicRouteNotFoundError:
            return
        route = default_route(route, self._config.default_topic_queue_nums)
        self._instance.set_route(topic, route)
        self.route_changed(topic, route)

    # ------------------------------------------------------------------ tries

    async def send(self, topic: str, message: Outgoing, within: float) -> SendResult:
        """Send to whichever queue has its turn, and to another broker when that fails.

        Args:
            topic: as the application knows it.
            message: ready.
            within: seconds for all tries.

        Raises:
            BrokerError: a broker refused for good.
            SendFailedError: all tries failed, or there was no time for more of them.
            RequestTimeoutError: the only try took too long.
            TopicRouteNotFoundError, ClientError, ChannelError: no queue is known, see ``target``.
        """
        now = trio.current_time()
        deadline = now + within
        name = wire_topic(self._instance.config, topic)
        target = self._targets.get(name)
        if target is None:
            target = await self.target(name)
            now = trio.current_time()
        if self.is_plain:
            queue = target.rotation.next_queue()
            try:  # as ``go_on``, through which every turn of this task would have to pass
                return await self.exchange(topic, target, queue, message, deadline, now)
            except _FAILURES as error:
                last = self._failed(queue, error, now)
            asked = [queue.broker_name or ""]
            return await self._tried(topic, target, message, deadline, asked, last)
        return await self._tried(topic, target, message, deadline, [], _Try(None, None, again=True))

    async def go_on(self, topic: str, message: Outgoing, first: FirstTry) -> SendResult:
        """As ``send``, from where the first try is; only while ``is_plain``."""
        target, queue, now, deadline, begun = first
        try:
            return await self.exchange(topic, target, queue, message, deadline, now, begun)
        except _FAILURES as error:
            last = self._failed(queue, error, now)
        return await self._tried(topic, target, message, deadline, [queue.broker_name or ""], last)

    async def _tried(
        self,
        topic: str,
        target: Target,
        message: Outgoing,
        deadline: float,
        asked: list[str],
        last: _Try,
    ) -> SendResult:
        """Try until that is enough, after those brokers were asked and the last one ended so."""
        name = target.topic
        most = tries(CommunicationMode.SYNC, self._config.retry_times_when_send_failed)
        while last.again and len(asked) < most and (not asked or trio.current_time() < deadline):
            if asked:
                target = self._targets.get(name) or target
            queue = self._next_queue(target, asked)
            asked.append(queue.broker_name or "")
            ends = self._end_of_try(deadline, last=len(asked) == most)
            last = await self._try(topic, target, queue, message, ends)
        return self._outcome(topic, last, asked)

    def _next_queue(self, target: Target, asked: list[str]) -> MessageQueue:
        if not asked and not self.faults.enabled:
            return target.rotation.next_queue()
        if asked and self.faults.enabled:
            target.rotation.restart(self._chance.getrandbits(31))
        last = asked[-1] if asked else None
        return self.faults.select(target.rotation, last, now=trio.current_time())

    def _end_of_try(self, deadline: float, *, last: bool) -> float:
        longest = self._config.send_msg_max_timeout_per_request
        if longest is None or last:
            return deadline
        return min(deadline, trio.current_time() + longest)

    @staticmethod
    def _outcome(topic: str, last: _Try, asked: list[str]) -> SendResult:
        if last.result is not None:
            return last.result
        error = last.error
        if error is not None and (len(asked) == 1 or not last.again):
            raise error
        raise SendFailedError(topic, tuple(asked)) from error

    async def _try(
        self, topic: str, target: Target, queue: MessageQueue, message: Outgoing, deadline: float
    ) -> _Try:
        started = trio.current_time()
        try:
            result = await self.exchange(topic, target, queue, message, deadline, started)
        except _FAILURES as error:
            return self._failed(queue, error, started)
        self._note(queue, started, isolate=False, reachable=True)
        again = tries_again_when_stored(
            result.status,
            retry_another_broker=self._config.retry_another_broker_when_not_store_ok,
        )
        return _Try(result, None, again)

    def _failed(self, queue: MessageQueue, error: RocketWireError, started: float) -> _Try:
        """What follows from an error."""
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
        self._note(queue, started, isolate=verdict.isolate, reachable=verdict.reachable)
        return _Try(None, error, verdict.again)

    def _note(self, queue: MessageQueue, started: float, *, isolate: bool, reachable: bool) -> None:
        if self.faults.enabled:
            now = trio.current_time()
            name = queue.broker_name or ""
            self.faults.update(name, now - started, isolate=isolate, reachable=reachable, now=now)

    async def exchange(
        self,
        topic: str,
        target: Target,
        queue: MessageQueue,
        message: Outgoing,
        deadline: float,
        now: float | None = None,
        begun: Begun | None = None,
    ) -> SendResult:
        """One try.

        Args:
            topic: as the application knows it.
            target: the topic.
            queue: one of its queues.
            message: ready.
            deadline: when to give up, time of trio's clock.
            now: the time of that clock, from whoever has just looked.
            begun: the request, where it was just sent over the channel that there is.

        Raises:
            BrokerError: refused.
            BrokerNotFoundError: nobody knows the broker's address.
            ChannelError: no answer.
        """
        instance = self._instance
        client = instance.config
        way = target.ways.get((queue.broker_name, queue.queue_id)) or self._way(target, queue)
        address = instance.routes.master(way.broker_name)
        if address is None:
            address, now = await self._master(target, way.broker_name), None
        if client.vip_channel_enabled:
            address = vip_address(address)
        request = message.request(way, client, self._config)
        if now is None:
            now = trio.current_time()
        if now >= deadline:
            raise RequestTimeoutError(address, message.code, 0.0)
        response = await instance.pool.request_by(
            address, request, started=now, deadline=deadline, begun=begun
        )
        named = queue
        if topic != queue.topic:
            named = MessageQueue(
                topic=topic, broker_name=queue.broker_name, queue_id=queue.queue_id
            )
        result = read_result(response, message.msg_id, named)
        if result is None:
            raise BrokerError(response.code, response.remark, message.code, address)
        return result

    async def tell(self, target: Target, queue: MessageQueue, message: Outgoing) -> None:
        """Send one way.

        Raises:
            BrokerNotFoundError: nobody knows the broker's address.
            ChannelError: it could not be sent.
        """
        instance = self._instance
        way = self._way(target, queue)
        name = way.broker_name
        address = instance.routes.master(name) or await self._master(target, name)
        if instance.config.vip_channel_enabled:
            address = vip_address(address)
        command = message.command(way.fields, instance.config, self._config)
        await instance.pool.send_oneway(address, command, within=self._config.send_msg_timeout)

    def _way(self, target: Target, queue: MessageQueue) -> Way:
        instance = self._instance
        formed = not instance.pool.changes_requests
        return target.way(queue, self._group, self._config, instance.config, formed=formed)

    async def _master(self, target: Target, broker_name: str) -> str:
        return await self._instance.master(broker_name, target.topic)
