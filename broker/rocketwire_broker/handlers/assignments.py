"""Queues of consumers: 41 and 42 lock them, 400 to 402 assign them if the broker rebalances.

A member of a group that asks one broker gets queues of all brokers, which share the topic.

Java: ``RebalanceLockManager``, ``QueryAssignmentProcessor``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import allocation as bodies
from rocketwire.messages import encode_body
from rocketwire.messages.enums import MessageModel, MessageRequestMode
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.allocation import (
    AllocateMessageQueueAveragely,
    AllocateMessageQueueAveragelyByCircle,
    sorted_client_ids,
    sorted_queues,
)
from rocketwire.policy.resource_names import RETRY_PREFIX
from rocketwire_broker.access.needs import reads_names, without_retries
from rocketwire_broker.handlers.requests import body_of, handles
from rocketwire_broker.state.response import LATER, SUCCESS, RefusedError, Response
from rocketwire_broker.state.waits import ANY_QUEUE

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.members import Peer


def _names_of(
    body: bodies.LockBatchRequestBody | bodies.UnlockBatchRequestBody,
) -> list[tuple[str | None, list[str | None]]]:
    topics = {queue.topic for queue in body.mq_set or ()}
    return [(body.consumer_group, without_retries(topics))]


@handles(RequestCode.LOCK_BATCH_MQ, needs=reads_names(bodies.LockBatchRequestBody, _names_of))
def lock_queues(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """41: lock or renew queues; the answer has those that the client has now."""
    body = body_of(request, bodies.LockBatchRequestBody)
    granted = broker.locks.lock(
        body.consumer_group or "", body.client_id or "", body.mq_set or (), now
    )
    return Response(
        body=(encode_body(bodies.LockBatchResponseBody(lock_ok_mq_set=granted)) or b"",)
    )


@handles(RequestCode.UNLOCK_BATCH_MQ, needs=reads_names(bodies.UnlockBatchRequestBody, _names_of))
def unlock_queues(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    body = body_of(request, bodies.UnlockBatchRequestBody)
    broker.locks.unlock(body.consumer_group or "", body.client_id or "", body.mq_set or ())
    return SUCCESS


STRATEGIES: Final = {
    strategy.name: strategy
    for strategy in (AllocateMessageQueueAveragely(), AllocateMessageQueueAveragelyByCircle())
}


@handles(
    RequestCode.QUERY_ASSIGNMENT,
    needs=reads_names(
        bodies.QueryAssignmentRequestBody, lambda body: [(body.consumer_group, (body.topic,))]
    ),
)
def query_assignment(
    broker: Broker, request: RemotingCommand, peer: Peer, now: int
) -> Response | None:
    """400: the queues of one member of a group, and whether it pulls or pops them."""
    question = body_of(request, bodies.QueryAssignmentRequestBody)
    topic = question.topic or ""
    if request.is_oneway or topic not in broker.topics or broker.routes.is_fresh(topic, now):
        return _assignments(broker, question)

    def answer(now: int) -> None:
        broker.answer(peer, request.opaque, _assignments(broker, question))

    broker.routes.ask(topic, answer)
    return LATER


def _assignments(broker: Broker, question: bodies.QueryAssignmentRequestBody) -> Response:
    topic, group = question.topic or "", question.consumer_group or ""
    setting = _mode(broker, topic, group)
    queues = _queues_of(broker, question, topic, group, setting)
    assignments = None
    if queues is not None:
        assignments = tuple(
            bodies.MessageQueueAssignment(message_queue=queue, mode=setting.mode)
            for queue in queues
        )
    body = encode_body(bodies.QueryAssignmentResponseBody(message_queue_assignments=assignments))
    return Response(body=(body,))


def _mode(broker: Broker, topic: str, group: str) -> bodies.SetMessageRequestModeRequestBody:
    # retry topics are always pulled
    setting = broker.request_modes.get(topic, {}).get(group)
    if setting is not None and not topic.startswith(RETRY_PREFIX):
        return setting
    return bodies.SetMessageRequestModeRequestBody(
        topic=topic, consumer_group=group, mode=MessageRequestMode.PULL
    )


def _queues_of(
    broker: Broker,
    question: bodies.QueryAssignmentRequestBody,
    topic: str,
    group_name: str,
    setting: bodies.SetMessageRequestModeRequestBody,
) -> Sequence[MessageQueue] | None:
    config = broker.topics.get(topic)
    if config is None:
        return None
    queues = _all_queues(broker, config)
    if question.message_model == MessageModel.BROADCASTING:
        return queues
    group = broker.members.online(group_name)
    strategy = STRATEGIES.get(question.strategy_name or "")
    if group is None or strategy is None:
        return None
    clients = sorted_client_ids(member.client_id for member in group.members.values())
    client_id = question.client_id or ""
    if client_id not in clients:
        return ()
    if setting.mode != MessageRequestMode.POP:
        return strategy.allocate(client_id, queues, clients) if queues else ()
    if setting.pop_share_queue_num <= 0 or setting.pop_share_queue_num >= len(clients) - 1:
        names = dict.fromkeys(queue.broker_name for queue in queues)
        return [MessageQueue(topic=topic, broker_name=name, queue_id=ANY_QUEUE) for name in names]
    index, shares = clients.index(client_id), setting.pop_share_queue_num
    if len(clients) > len(queues):
        return (queues[index % len(queues)],) if queues else ()
    neighbours = [clients[(index + step) % len(clients)] for step in range(shares + 1)]
    return [queue for name in neighbours for queue in strategy.allocate(name, queues, clients)]


def _all_queues(broker: Broker, config: TopicConfig) -> list[MessageQueue]:
    topic, name = str(config.topic_name), broker.config.broker_name
    own = [
        MessageQueue(topic=topic, broker_name=name, queue_id=index)
        for index in range(config.read_queue_nums)
    ]
    others = [queue for queue in broker.routes.queues(topic) if queue.broker_name != name]
    return sorted_queues([*own, *others])


@handles(RequestCode.SET_MESSAGE_REQUEST_MODE)
def set_mode(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    setting = body_of(request, bodies.SetMessageRequestModeRequestBody)
    topic, group = setting.topic or "", setting.consumer_group or ""
    if topic.startswith(RETRY_PREFIX):
        remark = "retry topic is not allowed to set mode"
        raise RefusedError(ResponseCode.NO_PERMISSION, remark)
    if topic not in broker.topics:
        raise RefusedError(ResponseCode.TOPIC_NOT_EXIST, f"topic[{topic}] not exist")
    if broker.groups.find_or_create(group, now) is None:
        remark = "subscription group does not exist"
        raise RefusedError(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark)
    broker.request_modes.setdefault(topic, {})[group] = setting
    return SUCCESS


@handles(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)
def all_modes(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    body = bodies.MessageRequestModeSerializeWrapper(message_request_mode_map=broker.request_modes)
    return Response(body=(encode_body(body),))
