"""What ``consume`` finds out before it begins: whether there is anybody, and whether this user may.

Rules of this file: consumers try for ever, for what is not there may come back; who has just typed the command wants to know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.consumer.pull import PullRequest, build_pull_header
from rocketwire.codes import RequestCode
from rocketwire.errors import BrokerError, ChannelError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.resource_names import with_namespace
from rocketwire.policy.subscription import subscription_data
from rocketwire_tools.admin.cli.exit_status import raise_if_denied

if TYPE_CHECKING:
    import argparse

    from rocketwire.client import ClientInstance
    from rocketwire.messages.route import TopicRouteData

_NO_QUEUE: Final = -1


async def reach_any(client: ClientInstance, route: TopicRouteData) -> tuple[str, str] | None:
    """Name and address of a broker of a topic that can be connected to; None where the topic has no broker.

    Raises:
        ChannelError: none of the topic's brokers can be connected to.
    """
    failure: ChannelError | None = None
    for broker in route.broker_datas or ():
        for address in (broker.broker_addrs or {}).values():
            try:
                await client.pool.connect(address)
            except ChannelError as error:
                failure = error
            else:
                return broker.broker_name or "", address
    if failure is not None:
        raise failure
    return None


async def check_permissions(
    client: ClientInstance, wanted: argparse.Namespace, broker: str, address: str
) -> None:
    """Ask a broker what a consumer will ask it.

    Args:
        client: of the user.
        wanted: topic, group, and where it begins.
        broker: name.
        address: of it.

    Raises:
        BrokerError: it does not take the credentials, or does not let them: 16, or 1 from plain ACL of 4.x.
    """
    namespace = client.config.namespace
    topic, group = (with_namespace(namespace, one) for one in (wanted.topic, wanted.group))
    queue = MessageQueue(topic=topic, broker_name=broker, queue_id=0)
    try:
        told = await client.brokers.consumer_offset(
            address, group, queue, zero_if_not_found=False if wanted.start else None
        )
        if client.config.credentials is not None:
            await _pull_nothing(client, address, group, queue)
            if told is None and wanted.start != "first" and not (wanted.pop or wanted.broadcast):
                await _ask_where_to_begin(client, address, queue, wanted.start)
    except BrokerError as error:
        raise_if_denied(error)
    except ChannelError:
        return  # the consumer will try again


async def _pull_nothing(
    client: ClientInstance, address: str, group: str, queue: MessageQueue
) -> None:
    """Plain ACL of 4.x looks at the topic in pulls alone; in a queue that is not there nothing is read."""
    request = PullRequest(
        queue=MessageQueue(topic=queue.topic, broker_name=queue.broker_name, queue_id=_NO_QUEUE),
        offset=0,
        group=group,
        subscription=subscription_data(queue.topic or "", version=0),
        suspend_timeout=0,
        send_subscription=True,
    )
    try:
        await client.brokers.call(
            address, RequestCode.PULL_MESSAGE, build_pull_header(request, to_slave=False)
        )
    except BrokerError as error:
        raise_if_denied(error)


async def _ask_where_to_begin(
    client: ClientInstance, address: str, queue: MessageQueue, start: str | None
) -> None:
    """Brokers of 5.x let users read a topic who may not ask where it ends: then a group without offsets never begins."""
    if start is None or start == "last":
        await client.brokers.max_offset(address, queue)
    else:
        await client.brokers.search_offset(address, queue, int(start))
