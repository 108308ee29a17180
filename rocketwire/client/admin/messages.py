"""Finding messages: by the broker's id, the sender's id or a key; and what became of them.  ``browsing`` reads places and times.

Java: ``MQAdminImpl``, ``DefaultMQAdminExtImpl``, ``QueryMsgTraceByIdSubCommand``, ``PrintMessageSubCommand``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.addresses import join_address
from rocketwire.client.admin.asking import of_each
from rocketwire.client.admin.browsing import Browsing
from rocketwire.client.sending_back import send_back_header
from rocketwire.client.trace import TRACE_TOPIC
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelError, DecodeError
from rocketwire.messages import encode_header
from rocketwire.messages import message_const as const
from rocketwire.messages.queries import QueryMessageRequestHeader, ViewMessageRequestHeader
from rocketwire.messages.transactions import ResumeCheckHalfMessageRequestHeader
from rocketwire.policy.trace_records import read_trace
from rocketwire.wire.ids import decode_offset_message_id
from rocketwire.wire.stored import decode_stored_messages

if TYPE_CHECKING:
    from rocketwire.client.admin.clusters import Clusters
    from rocketwire.client.admin.consumers import Consumers
    from rocketwire.client.instance import ClientInstance
    from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult
    from rocketwire.policy.trace_records import TraceContext
    from rocketwire.wire.stored import StoredMessage

MAX_UNIQUE: Final = 32
"""Messages of one unique key; brokers give no more (Java: ``QueryMessageProcessor``)."""

FOREVER: Final = 2**63 - 1
"""A time that never comes, in milliseconds."""

UNIQUE_KEY_QUERY: Final = "_UNIQUE_KEY_QUERY"
"""Ext field that says that the key is a unique one (Java: ``MixAll.UNIQUE_MSG_QUERY_FLAG``)."""


class Messages(Browsing):
    """Calls about messages; all of them raise what ``Asking.ask`` raises, and ``TopicRouteNotFoundError`` for unknown topics."""

    def __init__(
        self, client: ClientInstance, clusters: Clusters, consumers: Consumers, within: float
    ) -> None:
        """Nothing is sent yet."""
        super().__init__(client, clusters, within)
        self._consumers = consumers

    # ------------------------------------------------------------------ one message

    async def by_offset_id(self, topic: str, offset_msg_id: str) -> StoredMessage:
        """The message of a broker's id, which says where it lies (code 33; Java: ``viewMessage``).

        Raises:
            DecodeError: it is no such id.
            BrokerError: 1, there is no message at that place any more.
        """
        place = decode_offset_message_id(offset_msg_id)
        address = join_address(place.store_host.ip, place.store_host.port)
        header = ViewMessageRequestHeader(topic=topic, offset=place.commit_log_offset)
        body: bytes | None = await self.body_of(address, Code.VIEW_MESSAGE_BY_ID, header)
        (found,) = decode_stored_messages(body or b"")
        return found

    async def by_id(self, topic: str, msg_id: str) -> StoredMessage | None:
        """The message of an id, be it a broker's or a sender's; None where there is none.

        Both have the same form.  Java connects to whatever address the id would be of; here only to brokers that name servers
        know.  Java: ``DefaultMQAdminExt.viewMessage``.
        """
        try:
            place = decode_offset_message_id(msg_id).store_host
            ports = {address.rpartition(":")[2] for address in await self._clusters.replicas()}
            if str(place.port) in ports:
                return await self.by_offset_id(topic, msg_id)
        except (DecodeError, BrokerError, ChannelError):
            pass  # then it is a sender's
        found = await self.by_unique_key(topic, msg_id)
        return found[0] if found else None

    async def by_unique_key(
        self,
        topic: str,
        msg_id: str,
        *,
        begin: int = 0,
        end: int = FOREVER,
        cluster: str | None = None,
    ) -> tuple[StoredMessage, ...]:
        """The messages of a sender's id, several after retries of a send (code 12; Java: ``queryMessageByUniqKey``).

        Java looks three days back unless told otherwise.

        Args:
            topic: where.
            msg_id: the id.
            begin: stored not before this, milliseconds since 1970.
            end: stored not after this.
            cluster: only on brokers of this one.
        """
        found = await self._query(topic, msg_id, MAX_UNIQUE, begin, end, cluster, unique=True)
        return tuple(message for message in found if message.msg_id == msg_id)

    async def by_key(
        self,
        topic: str,
        key: str,
        *,
        max_num: int = 64,
        begin: int = 0,
        end: int = FOREVER,
        cluster: str | None = None,
    ) -> tuple[StoredMessage, ...]:
        """The messages of a key that their sender gave them (code 12; Java: ``queryMessage``); arguments as of ``by_unique_key``.

        Args:
            topic: where.
            key: one of a message's keys.
            max_num: most messages of each broker.
            begin: as above.
            end: as above.
            cluster: as above.
        """
        found = await self._query(topic, key, max_num, begin, end, cluster, unique=False)
        return tuple(
            message
            for message in found
            if message.topic == topic and key in _keys(message)  # brokers compare hash codes only
        )

    async def _query(
        self,
        topic: str,
        key: str,
        max_num: int,
        begin: int,
        end: int,
        cluster: str | None,
        *,
        unique: bool,
    ) -> list[StoredMessage]:
        header = QueryMessageRequestHeader(
            topic=topic, key=key, max_num=max_num, begin_timestamp=begin, end_timestamp=end
        )
        fields = {**encode_header(header), UNIQUE_KEY_QUERY: str(unique).lower()}
        accepted = (ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND)

        async def ask(address: str) -> tuple[StoredMessage, ...]:
            answer = await self.ask(
                address, Code.QUERY_MESSAGE, fields, accepted=accepted, within=self.within * 3
            )
            return decode_stored_messages(answer.command.body or b"")

        addresses = list((await self._clusters.of_topic(topic)).values())
        if cluster is not None:
            of_cluster = await self._clusters.replicas(cluster)
            addresses = [one for one in addresses if one in of_cluster]
        each = await of_each(addresses, ask)
        return [message for messages in each.values() for message in messages]

    # ------------------------------------------------------------------ what became of it

    async def trace(
        self,
        msg_id: str,
        *,
        trace_topic: str = TRACE_TOPIC,
        max_num: int = 64,
        begin: int = 0,
        end: int = FOREVER,
    ) -> list[TraceContext]:
        """Who sent a message and who handled it, as its clients recorded, in order of time (code 12).

        Only of clients that trace, and a few seconds late.  Java: ``QueryMsgTraceByIdSubCommand``.

        Args:
            msg_id: the sender's id.
            trace_topic: where clients record.
            max_num: most messages of records.
            begin: recorded not before this, milliseconds since 1970.
            end: recorded not after this.
        """
        found = await self.by_key(trace_topic, msg_id, max_num=max_num, begin=begin, end=end)
        records = (
            record
            for message in found
            for record in read_trace((message.body or b"").decode("utf-8", "replace"))
            if record.msg_id == msg_id
        )
        unique = dict.fromkeys(records)
        return sorted(unique, key=lambda record: record.time_stamp or 0)

    async def consume_directly(
        self, group: str, client_id: str, topic: str, msg_id: str
    ) -> ConsumeMessageDirectlyResult | None:
        """Have one member of a group handle a message now (codes 33 or 12, 309); None where there is no such message.

        Java: ``DefaultMQAdminExt.consumeMessageDirectly``.

        Raises:
            BrokerError: 206, that member is not connected; 207, it did not answer in time.
        """
        message = await self.by_id(topic, msg_id)
        if message is None:
            return None
        address = join_address(message.store_host.ip, message.store_host.port)
        return await self._consumers.consume_directly(
            address, group, client_id, topic, message.offset_msg_id
        )

    async def send_back(
        self,
        message: StoredMessage,
        group: str,
        *,
        delay_level: int = 0,
        max_reconsume_times: int = 16,
    ) -> None:
        """Have a group get a message again, by way of its retry topic (code 36; Java: ``consumerSendMessageBack``).

        Args:
            message: which.
            group: who.
            delay_level: -1 for its dead letters, 0 to have the broker choose, else 1 to 18.
            max_reconsume_times: tries before the dead letters.

        Raises:
            BrokerError: 26, the broker does not know the group; 1, the message is gone.
        """
        header = send_back_header(group, message, delay_level, max_reconsume_times)
        address = join_address(message.store_host.ip, message.store_host.port)
        await self.ask(address, Code.CONSUMER_SEND_MSG_BACK, header)

    async def resume_half(self, topic: str, msg_id: str) -> bool:
        """Have a half message checked again that was given up (code 323); whether there was one.

        Java: ``resumeCheckHalfMessage``.

        Raises:
            BrokerError: 1, the broker could not put it back.
        """
        message = await self.by_id(topic, msg_id)
        if message is None:
            return False
        header = ResumeCheckHalfMessageRequestHeader(topic=topic, msg_id=message.offset_msg_id)
        address = join_address(message.store_host.ip, message.store_host.port)
        await self.ask(address, Code.RESUME_CHECK_HALF_MESSAGE, header)
        return True


def _keys(message: StoredMessage) -> list[str]:
    return ((message.properties or {}).get(const.KEYS) or "").split(const.KEY_SEPARATOR)
