"""``BrokerCalls``: typed requests to brokers, and the calls about offsets and groups.

Message classes that only some callers need are imported in the function that uses them: a producer
starts faster without them.

Java: ``MQClientAPIImpl``, ``MQAdminImpl``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from rocketwire.client.addresses import vip_address
from rocketwire.client.net.rpc import SUCCESS, Response, decode_response, make_request
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError

if TYPE_CHECKING:
    from rocketwire.client.config import ClientConfig
    from rocketwire.client.net.pool import ChannelPool
    from rocketwire.messages.allocation import (
        LockBatchRequestBody,
        LockBatchResponseBody,
        UnlockBatchRequestBody,
    )
    from rocketwire.messages.connections import GetConsumerListByGroupResponseBody
    from rocketwire.messages.enums import BoundaryType
    from rocketwire.messages.heartbeat import HeartbeatData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.offsets import QueryConsumerOffsetResponseHeader


@trio_only("call")
class BrokerCalls:
    """Requests to brokers by address; every method raises the errors of ``call``."""

    def __init__(self, pool: ChannelPool, config: ClientConfig) -> None:
        self._pool = pool
        self._config = config

    async def call(
        self,
        address: str,
        code: int,
        header: object | Mapping[str, str] | None = None,
        body: object | bytes | None = None,
        *,
        within: float | None = None,
        accepted: Collection[int] = SUCCESS,
        vip: bool = False,
    ) -> Response:
        """Send a request and return the decoded response.

        Args:
            header: an instance of the operation's header class, or ext fields.
            body: an instance of its body class, a list of them, or bytes.
            within: timeout in seconds; None for ``ClientConfig.mq_client_api_timeout``.
            accepted: response codes that are not errors; see ``Response.command.code``.
            vip: use the broker's second port if ``ClientConfig.vip_channel_enabled`` is set; that
                port serves neither pulls nor pops.

        Raises:
            BrokerError: the response code is not in ``accepted``.
            ChannelError: there is no response: ``ConnectFailedError``, ``ChannelBrokenError`` or
                ``RequestTimeoutError``.
            EncodeError: a value does not fit its field.
            DecodeError: the response is invalid.

        Cancellation: the client drops the request; the broker may have executed it.
        """
        require_trio()
        command = make_request(self._config, code, header, body)
        target = vip_address(address) if vip and self._config.vip_channel_enabled else address
        response = await self._pool.request(target, command, within=within)
        if response.code not in accepted:
            raise BrokerError(response.code, response.remark, code, target)
        return decode_response(code, response)

    async def send_oneway(
        self,
        address: str,
        code: int,
        header: object | Mapping[str, str] | None = None,
        body: object | bytes | None = None,
        *,
        within: float | None = None,
        vip: bool = False,
    ) -> None:
        """Send a request that has no response; for the arguments see ``call``.

        Raises:
            ChannelError: the request could not be sent.
            EncodeError: a value does not fit its field.
        """
        command = make_request(self._config, code, header, body)
        target = vip_address(address) if vip and self._config.vip_channel_enabled else address
        await self._pool.send_oneway(target, command, within=within)

    # ------------------------------------------------------------------ clients and groups

    async def heartbeat(self, address: str, data: HeartbeatData) -> Response:
        """Register the groups of a client (code 34); ``command`` has the broker's version."""
        return await self.call(address, Code.HEART_BEAT, None, data)

    async def unregister_client(
        self,
        address: str,
        client_id: str,
        *,
        producer_group: str | None = None,
        consumer_group: str | None = None,
    ) -> None:
        from rocketwire.messages.heartbeat import UnregisterClientRequestHeader

        header = UnregisterClientRequestHeader(
            client_id=client_id, producer_group=producer_group, consumer_group=consumer_group
        )
        await self.call(address, Code.UNREGISTER_CLIENT, header)

    async def consumer_ids(self, address: str, group: str) -> tuple[str, ...]:
        """Return the client ids of a consumer group (code 38); empty if no client is connected.

        For a group without members Java sends code 1; this method returns an empty tuple then.
        """
        from rocketwire.messages.connections import GetConsumerListByGroupRequestHeader

        header = GetConsumerListByGroupRequestHeader(consumer_group=group)
        accepted = (ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR)
        response = await self.call(
            address, Code.GET_CONSUMER_LIST_BY_GROUP, header, accepted=accepted, vip=True
        )
        response_body: GetConsumerListByGroupResponseBody | None = response.body
        return (response_body.consumer_id_list if response_body else None) or ()

    async def lock_queues(
        self, address: str, body: LockBatchRequestBody
    ) -> tuple[MessageQueue, ...]:
        """Lock queues for a client (code 41); returns the queues that the client has locked now."""
        response = await self.call(address, Code.LOCK_BATCH_MQ, None, body, vip=True)
        response_body: LockBatchResponseBody | None = response.body
        return (response_body.lock_ok_mq_set if response_body else None) or ()

    async def unlock_queues(self, address: str, body: UnlockBatchRequestBody) -> None:
        await self.call(address, Code.UNLOCK_BATCH_MQ, None, body, vip=True)

    # ------------------------------------------------------------------ offsets of queues

    async def _ask_queue(
        self,
        header_class: Callable[..., object],
        address: str,
        code: Code,
        queue: MessageQueue,
        *,
        accepted: Collection[int] = SUCCESS,
        **fields: object,
    ) -> Response:
        header = _queue_header(header_class, queue, **fields)
        return await self.call(address, code, header, accepted=accepted, vip=True)

    async def max_offset(self, address: str, queue: MessageQueue, *, committed: bool = True) -> int:
        """Return the offset of the queue's next message (code 30)."""
        from rocketwire.messages.offsets import GetMaxOffsetRequestHeader as Header

        response = await self._ask_queue(
            Header, address, Code.GET_MAX_OFFSET, queue, committed=committed
        )
        return int(response.header.offset or 0)

    async def min_offset(self, address: str, queue: MessageQueue) -> int:
        """Return the offset of the queue's oldest message (code 31)."""
        from rocketwire.messages.offsets import GetMinOffsetRequestHeader as Header

        response = await self._ask_queue(Header, address, Code.GET_MIN_OFFSET, queue)
        return int(response.header.offset or 0)

    async def search_offset(
        self,
        address: str,
        queue: MessageQueue,
        timestamp: int,
        boundary: BoundaryType | None = None,
    ) -> int:
        """Return the offset of the first message stored at or after a time (code 29).

        Args:
            timestamp: milliseconds since 1970; if no message is newer, the result is the end of the
                queue.
            boundary: if several messages have the same store time, ``UPPER`` selects the last;
                ``LOWER`` and None the first.
        """
        from rocketwire.messages.enums import BoundaryType
        from rocketwire.messages.offsets import SearchOffsetRequestHeader as Header

        code, boundary = Code.SEARCH_OFFSET_BY_TIMESTAMP, boundary or BoundaryType.LOWER
        response = await self._ask_queue(
            Header, address, code, queue, timestamp=timestamp, boundary_type=boundary
        )
        return int(response.header.offset or 0)

    async def earliest_store_time(self, address: str, queue: MessageQueue) -> int:
        """Return the store time (ms) of a queue's oldest message; -1 if it is empty (code 32)."""
        from rocketwire.messages.offsets import GetEarliestMsgStoretimeRequestHeader as Header

        response = await self._ask_queue(Header, address, Code.GET_EARLIEST_MSG_STORETIME, queue)
        timestamp = response.header.timestamp
        return -1 if timestamp is None else int(timestamp)

    # ------------------------------------------------------------------ offsets of groups

    async def consumer_offset(
        self,
        address: str,
        group: str,
        queue: MessageQueue,
        *,
        zero_if_not_found: bool | None = None,
    ) -> int | None:
        """Return the offset of a group in a queue (code 14); None if the broker has none."""
        from rocketwire.messages.offsets import QueryConsumerOffsetRequestHeader as Header

        response = await self._ask_queue(
            Header,
            address,
            Code.QUERY_CONSUMER_OFFSET,
            queue,
            accepted=(ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND),
            consumer_group=group,
            set_zero_if_not_found=zero_if_not_found,
        )
        header: QueryConsumerOffsetResponseHeader = response.header
        return None if response.command.code == ResponseCode.QUERY_NOT_FOUND else header.offset

    async def update_consumer_offset(
        self, address: str, group: str, queue: MessageQueue, offset: int, *, oneway: bool = False
    ) -> None:
        """Commit the offset of a group (code 15); Java's consumers send it one-way on a timer."""
        from rocketwire.messages.offsets import UpdateConsumerOffsetRequestHeader as Header

        header = _queue_header(Header, queue, consumer_group=group, commit_offset=offset)
        send = self.send_oneway if oneway else self.call
        await send(address, Code.UPDATE_CONSUMER_OFFSET, header, vip=True)


def _queue_header(
    header_class: Callable[..., object], queue: MessageQueue, **fields: object
) -> object:
    return header_class(
        topic=queue.topic, queue_id=queue.queue_id, bname=queue.broker_name, **fields
    )
