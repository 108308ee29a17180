"""``FastPath``: starts sends of simple messages (``rocketwire.client.publish.direct_send``).

It behaves like ``Producer.send``. Whatever is unusual is left to ``MessageSender``, either before
anything is written or together with the request that was written already.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.client.publish.direct_send import DirectConnection, DirectQueue, DirectSend
from rocketwire.policy.queue_selection import POSITIVE, QueueRotation
from rocketwire.policy.resource_names import SEND_FORBIDDEN_TOPICS, is_retry_topic
from rocketwire.policy.validation import check_topic
from rocketwire.transport.fastpath import direct_requests

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.message import Message
    from rocketwire.client.publish.config import ProducerConfig
    from rocketwire.client.publish.request_builder import Target
    from rocketwire.client.publish.sender import MessageSender
    from rocketwire.client.publish.unique_keys import UniqueKeys
    from rocketwire.client.send_result import SendResult

# Larger bodies take the normal path, because the body then dominates the cost
MAX_BODY_SIZE: Final = 4096
# Longer properties take the normal path, which checks the size of their bytes
MAX_PROPERTIES_SIZE: Final = 4096


class _Topic(NamedTuple):
    target: Target
    rotation: QueueRotation
    queues: Sequence[DirectQueue]  # in the order of ``rotation``


class FastPath:
    def __init__(
        self,
        instance: ClientInstance,
        sender: MessageSender,
        keys: UniqueKeys,
        config: ProducerConfig,
        *,
        connect: Callable[[str], DirectConnection | None],  # returns that to an address
        shares_turns: bool,  # takes turns at queues with ``sender``; False in another thread
    ) -> None:
        client = instance.config
        self._sender = sender
        self._keys = keys
        self._config = config
        self._pool, self._routes = instance.pool, instance.routes
        self._targets = sender.targets
        self._topics: dict[str, _Topic] = {}
        self._connect = connect
        self._shares_turns = shares_turns
        # whether simple messages are sent directly at all: not if requests are changed, if a
        # setting concerns each attempt, or if ``ROCKETWIRE_FASTPATH`` is ``off``
        self.is_enabled: bool = (
            direct_requests.is_on
            and not instance.pool.changes_requests
            and not client.namespace
            and not client.vip_channel_enabled
            and not config.send_latency_enable
            and not config.retry_another_broker_when_not_store_ok
            and config.send_msg_max_timeout_per_request is None
        )
        end = min(config.max_message_size, config.compress_msg_body_over_howmuch - 1, MAX_BODY_SIZE)
        self._max_body_size = end if self.is_enabled else 0

    def send(self, message: Message, within: float) -> SendResult | DirectSend | None:
        """Send a message to the next queue; nothing is written if the task is cancelled already.

        Returns the result, if the connection has read the usual response; None if the message is
        not simple. Otherwise the send, which has to be finished before anything is awaited; its
        ``request`` is None if nothing was written.
        """
        body = message.body
        topic = self._find_topic(message.topic)
        if topic is None or not 0 < len(body) <= self._max_body_size:
            return None
        born = time.time_ns() // 1_000_000
        key = self._keys.next_in_ascii(born)
        text = None
        if not message.has_default_properties():
            text = message.encode_simple_properties(key.decode())
            if text is None or len(text) > MAX_PROPERTIES_SIZE:
                return None
        target, rotation, queues = topic
        rotation.turn = turn = (rotation.turn + 1) & POSITIVE
        queue = queues[turn % len(queues)]
        if queue.connection is None or queue.changes != self._pool.changes + self._routes.changes:
            self._look_up(target, queue)
        connection, request = queue.connection, None
        form = queue.key_only_form if text is None else queue.form
        if connection is not None and form is not None:
            values: tuple[object, ...] | None = (born, message.flag, 0, key)
            if text is not None:
                values = form.values((born, message.flag, 0), text)
            if values is not None:
                request = connection.request(form, values, body, within)
        if request is not None and request.data is not None:
            result = queue.read(request.data, key, request.opaque)
            if result is not None:
                return result
            queue.learn(request.data, key)
        return DirectSend(message, key, born, target, queue, request, self._config)

    def _find_topic(self, name: str) -> _Topic | None:
        target, topic = self._targets.get(name), self._topics.get(name)
        if target is not None and (topic is None or topic.target is not target):
            topic = self._topics[name] = self._open_topic(target)
        return topic if target is not None and topic is not None and topic.queues else None

    def _look_up(self, target: Target, queue: DirectQueue) -> None:
        changes = self._pool.changes + self._routes.changes  # first: trio may run in another thread
        template = self._sender.get_template(target, queue.queue)
        address = self._routes.master(template.broker_name)
        connection = None if address is None else self._connect(address)
        queue.use(connection, template.form, template.key_only_form, changes)

    def _open_topic(self, target: Target) -> _Topic:
        rotation = target.rotation
        if not self._shares_turns:
            rotation = QueueRotation(rotation.queues, start=time.perf_counter_ns() & POSITIVE)
        if target.topic in SEND_FORBIDDEN_TOPICS or is_retry_topic(target.topic):
            return _Topic(target, rotation, ())  # the normal path has the error, or more fields
        check_topic(target.topic)
        return _Topic(target, rotation, [DirectQueue(queue) for queue in rotation.queues])

    def forget(self) -> None:
        self._topics.clear()
