"""Checks before ``consume`` starts: is a broker reachable, and does the user have permission?

A consumer retries for ever, because a broker may come back. The user of the command line needs the
error at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.consumer.pull import PullRequest, build_pull_header
from rocketwire.codes import RequestCode
from rocketwire.errors import BrokerError, ChannelError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.resource_names import with_namespace
from rocketwire.policy.subscription import subscription_data
from rocketwire_tools.cli.exit_status import raise_if_denied

if TYPE_CHECKING:
    import argparse

    from rocketwire.client import ClientInstance
    from rocketwire.messages.route import TopicRouteData

_NO_QUEUE: Final = -1


async def connect_to_any(client: ClientInstance, route: TopicRouteData) -> tuple[str, str] | None:
    """Connect to a broker of a topic; returns name and address, None if the topic has no broker.

    Raises ``ChannelError`` if none is reachable.
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
    client: ClientInstance, args: argparse.Namespace, broker: str, address: str
) -> None:
    """Send a broker the requests that a consumer will send.

    Raises ``BrokerError`` if it denies permission: code 16, or 1 from the plain ACL of 4.x.
    """
    namespace = client.config.namespace
    topic, group = (with_namespace(namespace, name) for name in (args.topic, args.group))
    queue = MessageQueue(topic=topic, broker_name=broker, queue_id=0)
    try:
        stored_offset = await client.brokers.consumer_offset(
            address, group, queue, zero_if_not_found=False if args.start else None
        )
        if client.config.credentials is not None:
            await _pull_nothing(client, address, group, queue)
            if stored_offset is None and args.start != "first" and not (args.pop or args.broadcast):
                await _look_up_start(client, address, queue, args.start)
    except BrokerError as error:
        raise_if_denied(error)
    except ChannelError:
        return  # the consumer will try again


async def _pull_nothing(
    client: ClientInstance, address: str, group: str, queue: MessageQueue
) -> None:
    # Pull from a queue that does not exist: the plain ACL of 4.x checks topics only in pulls
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


async def _look_up_start(
    client: ClientInstance, address: str, queue: MessageQueue, start: str | None
) -> None:
    # Look up the start offset. Brokers of 5.x may allow a user to read a topic but not to query its
    # offsets. A group without stored offsets then never starts.
    if start is None or start == "last":
        await client.brokers.max_offset(address, queue)
    else:
        await client.brokers.search_offset(address, queue, int(start))
