"""``BrokerCalls``: what is asked of brokers, typed; and the calls about offsets and groups that producers and consumers share.

Rules of this file: what only consumers and operators say is imported where they say it, so that a producer starts sooner.

Java: ``MQClientAPIImpl``, ``MQAdminImpl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.client.addresses import vip_address
from rocketwire.client.net.rpc import SUCCESS, make_request, read_answer
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rocketwire.client.config import ClientConfig
    from rocketwire.client.net.pool import ChannelPool
    from rocketwire.client.net.rpc import Answer
    from rocketwire.messages.allocation import (
        LockBatchRequestBody,
        LockBatchResponseBody,
        UnlockBatchRequestBody,
    )
    from rocketwire.messages.connections import GetConsumerListByGroupResponseBody
    from rocketwire.messages.enums import BoundaryType
    from rocketwire.messages.heartbeat import HeartbeatData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.offsets import (
        GetEarliestMsgStoretimeResponseHeader,
        GetMaxOffsetResponseHeader,
        GetMinOffsetResponseHeader,
        QueryConsumerOffsetResponseHeader,
        SearchOffsetResponseHeader,
    )


@trio_only("call")
class BrokerCalls:
    """Calls to brokers by address; all of them raise what ``call`` raises."""

    def __init__(self, pool: ChannelPool, config: ClientConfig) -> None:
        """Nothing is sent yet.

        Args:
            pool: carries the requests.
            config: says how they are written.
        """
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
    ) -> Answer:
        """Ask anything.

        Args:
            address: ``host:port`` of the broker.
            code: request code.
            header: an instance of the operation's header class, or ext fields.
            body: an instance of its body class, a list of them, or bytes.
            within: seconds; None for ``ClientConfig.mq_client_api_timeout``.
            accepted: answers that are no error; ``Answer.command.code`` tells which it was.
            vip: whether the broker's second port may be asked, if ``ClientConfig.vip_channel_enabled``; it serves neither
                pulls nor pops.

        Raises:
            BrokerError: it was answered with a code that is not accepted.
            ChannelError: no answer: ``ConnectFailedError``, ``ChannelBrokenError`` or ``RequestTimeoutError``.
            EncodeError: a value does not fit its field.
            DecodeError: the answer cannot be read.

        Cancellation: the request is forgotten; it may have been executed.
        """
        require_trio()
        command = make_request(self._config, code, header, body)
        target = vip_address(address) if vip and self._config.vip_channel_enabled else address
        response = await self._pool.request(target, command, within=within)
        if response.code not in accepted:
            raise BrokerError(response.code, response.remark, code, target)
        return read_answer(code, response)

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
        """Tell a broker something, which answers nothing; arguments as of ``call``.

        Raises:
            ChannelError: it could not be sent.
            EncodeError: a value does not fit its field.
        """
        command = make_request(self._config, code, header, body)
        target = vip_address(address) if vip and self._config.vip_channel_enabled else address
        await self._pool.send_oneway(target, command, within=within)

    # ------------------------------------------------------------------ clients and groups

    async def heartbeat(self, address: str, data: HeartbeatData) -> Answer:
        """Say that the groups of a client live (code 34); ``Answer.command`` has the broker's version and its ext fields."""
        return await self.call(address, Code.HEART_BEAT, None, data)

    async def unregister_client(
        self,
        address: str,
        client_id: str,
        *,
        producer_group: str | None = None,
        consumer_group: str | None = None,
    ) -> None:
        """Say that a client leaves a group (code 35)."""
        from rocketwire.messages.heartbeat import UnregisterClientRequestHeader

        header = UnregisterClientRequestHeader(
            client_id=client_id, producer_group=producer_group, consumer_group=consumer_group
        )
        await self.call(address, Code.UNREGISTER_CLIENT, header)

    async def consumer_ids(self, address: str, group: str) -> tuple[str, ...]:
        """Client ids of a consumer group (code 38); empty where nobody is connected.

        Java answers code 1 for a group without members; that is an empty group here.
        """
        from rocketwire.messages.connections import GetConsumerListByGroupRequestHeader

        header = GetConsumerListByGroupRequestHeader(consumer_group=group)
        accepted = (ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR)
        answer = await self.call(
            address, Code.GET_CONSUMER_LIST_BY_GROUP, header, accepted=accepted, vip=True
        )
        body: GetConsumerListByGroupResponseBody | None = answer.body
        return (body.consumer_id_list if body else None) or ()

    async def lock_queues(
        self, address: str, body: LockBatchRequestBody
    ) -> tuple[MessageQueue, ...]:
        """Lock queues for a client (code 41); returns those that it has now."""
        answer = await self.call(address, Code.LOCK_BATCH_MQ, None, body, vip=True)
        told: LockBatchResponseBody | None = answer.body
        return (told.lock_ok_mq_set if told else None) or ()

    async def unlock_queues(self, address: str, body: UnlockBatchRequestBody) -> None:
        """Give locked queues back (code 42)."""
        await self.call(address, Code.UNLOCK_BATCH_MQ, None, body, vip=True)

    # ------------------------------------------------------------------ offsets of queues

    async def max_offset(self, address: str, queue: MessageQueue, *, committed: bool = True) -> int:
        """The offset that the queue's next message will have (code 30)."""
        from rocketwire.messages.offsets import GetMaxOffsetRequestHeader

        header = GetMaxOffsetRequestHeader(
            topic=queue.topic,
            queue_id=queue.queue_id,
            bname=queue.broker_name,
            committed=committed,
        )
        found: GetMaxOffsetResponseHeader
        found = (await self.call(address, Code.GET_MAX_OFFSET, header, vip=True)).header
        return found.offset or 0

    async def min_offset(self, address: str, queue: MessageQueue) -> int:
        """The offset of the queue's oldest message (code 31)."""
        from rocketwire.messages.offsets import GetMinOffsetRequestHeader

        header = GetMinOffsetRequestHeader(
            topic=queue.topic, queue_id=queue.queue_id, bname=queue.broker_name
        )
        found: GetMinOffsetResponseHeader
        found = (await self.call(address, Code.GET_MIN_OFFSET, header, vip=True)).header
        return found.offset or 0

    async def search_offset(
        self,
        address: str,
        queue: MessageQueue,
        timestamp: int,
        boundary: BoundaryType | None = None,
    ) -> int:
        """The offset of the first message stored at or after a time, in milliseconds (code 29); the end if there is none.

        ``UPPER`` gives the last of several messages of the same millisecond, ``LOWER`` and None the first.
        """
        from rocketwire.messages.enums import BoundaryType
        from rocketwire.messages.offsets import SearchOffsetRequestHeader

        header = SearchOffsetRequestHeader(
            topic=queue.topic,
            queue_id=queue.queue_id,
            bname=queue.broker_name,
            timestamp=timestamp,
            boundary_type=boundary or BoundaryType.LOWER,
        )
        found: SearchOffsetResponseHeader
        found = (await self.call(address, Code.SEARCH_OFFSET_BY_TIMESTAMP, header, vip=True)).header
        return found.offset or 0

    async def earliest_store_time(self, address: str, queue: MessageQueue) -> int:
        """When the queue's oldest message was stored, in milliseconds; -1 where it has none (code 32)."""
        from rocketwire.messages.offsets import GetEarliestMsgStoretimeRequestHeader

        header = GetEarliestMsgStoretimeRequestHeader(
            topic=queue.topic, queue_id=queue.queue_id, bname=queue.broker_name
        )
        found: GetEarliestMsgStoretimeResponseHeader
        found = (await self.call(address, Code.GET_EARLIEST_MSG_STORETIME, header, vip=True)).header
        return -1 if found.timestamp is None else found.timestamp

    # ------------------------------------------------------------------ offsets of groups

    async def consumer_offset(
        self,
        address: str,
        group: str,
        queue: MessageQueue,
        *,
        zero_if_not_found: bool | None = None,
    ) -> int | None:
        """How far a group has come in a queue (code 14); None where the broker does not know."""
        from rocketwire.messages.offsets import QueryConsumerOffsetRequestHeader

        header = QueryConsumerOffsetRequestHeader(
            consumer_group=group,
            topic=queue.topic,
            queue_id=queue.queue_id,
            bname=queue.broker_name,
            set_zero_if_not_found=zero_if_not_found,
        )
        accepted = (ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND)
        answer = await self.call(
            address, Code.QUERY_CONSUMER_OFFSET, header, accepted=accepted, vip=True
        )
        found: QueryConsumerOffsetResponseHeader = answer.header
        return None if answer.command.code == ResponseCode.QUERY_NOT_FOUND else found.offset

    async def update_consumer_offset(
        self, address: str, group: str, queue: MessageQueue, offset: int, *, oneway: bool = False
    ) -> None:
        """Commit how far a group has come in a queue (code 15); one-way as Java's consumers do it on their timer."""
        from rocketwire.messages.offsets import UpdateConsumerOffsetRequestHeader

        header = UpdateConsumerOffsetRequestHeader(
            consumer_group=group,
            topic=queue.topic,
            queue_id=queue.queue_id,
            bname=queue.broker_name,
            commit_offset=offset,
        )
        if oneway:
            await self.send_oneway(address, Code.UPDATE_CONSUMER_OFFSET, header, vip=True)
        else:
            await self.call(address, Code.UPDATE_CONSUMER_OFFSET, header, vip=True)
