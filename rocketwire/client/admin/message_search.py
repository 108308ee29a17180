"""Finding messages: by the broker's id, the sender's id, a key or a tag.

``message_browse`` reads places and times.

Java: ``MQAdminImpl``, ``DefaultMQAdminExtImpl``, ``QueryMsgByKeySubCommand``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.client.addresses import join_address
from rocketwire.client.admin.fanout import read_from_each
from rocketwire.client.admin.message_browse import MessageBrowse
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelError, DecodeError, MissingPackageError
from rocketwire.messages import encode_header
from rocketwire.messages import message_const as const
from rocketwire.messages.queries import QueryMessageRequestHeader, ViewMessageRequestHeader
from rocketwire.policy.resource_names import LMQ_PREFIX, has_own_route
from rocketwire.wire.message.ids import decode_offset_message_id
from rocketwire.wire.message.lazy_reader import StoredMessageReader, decode_stored_messages

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage

INDEX_OF_KEYS: Final = "K"
INDEX_OF_TAGS: Final = "T"
"""Values of ``QueryMessageRequestHeader.index_type`` (Java: ``MessageConst.INDEX_TAG_TYPE``)."""

MAX_UNIQUE: Final = 32
"""Messages of one unique key; brokers give no more (Java: ``QueryMessageProcessor``)."""

HOUR_MILLIS: Final = 3_600_000
"""Unit by which entries of an index in RocksDB are sorted."""

FOREVER: Final = 2**63 - 1
"""A time that never comes, in milliseconds."""

UNIQUE_KEY_QUERY: Final = "_UNIQUE_KEY_QUERY"
"""Ext field: whether the key is a unique key (Java: ``MixAll.UNIQUE_MSG_QUERY_FLAG``)."""


class MessageSearch(MessageBrowse):
    """Requests that find messages.

    For errors see ``AdminCalls.ask``; ``TopicRouteNotFoundError`` for unknown topics.
    """

    # ------------------------------------------------------------------ one message

    async def by_offset_id(self, topic: str, offset_msg_id: str) -> StoredMessage:
        """Fetch a message by the broker's id, which is its position (code 33.

        Java: ``viewMessage``).

        Raises:
            DecodeError: the id is invalid.
            BrokerError: 1, there is no message at that place any more.
        """
        place = decode_offset_message_id(offset_msg_id)
        address = join_address(place.store_host.ip, place.store_host.port)
        header = ViewMessageRequestHeader(topic=topic, offset=place.commit_log_offset)
        messages = _messages_of(await self.body_of(address, Code.VIEW_MESSAGE_BY_ID, header))
        if len(messages) != 1:
            raise DecodeError(f"{len(messages)} messages instead of one", path="body")
        return messages[0]

    async def by_id(
        self, topic: str, msg_id: str, *, cluster: str | None = None
    ) -> StoredMessage | None:
        """Find a message by its id, the broker's or the sender's; None if there is none.

        Both have the same format. Java connects to the address in any id; this method only to
        addresses of known brokers. Java: ``DefaultMQAdminExt.viewMessage``.

        Args:
            msg_id: either id.
            cluster: see ``by_unique_key``, for a sender's id.
        """
        stored = await self._of_broker(topic, msg_id)
        if stored is not None:
            return stored
        messages = await self.by_unique_key(topic, msg_id, cluster=cluster)
        return messages[0] if messages else None

    async def _of_broker(self, topic: str, msg_id: str) -> StoredMessage | None:
        """Find a message by its id, if that is a broker's id.

        None if it is not, or if its broker does not respond.
        """

        async def ask(_: str) -> StoredMessage:
            return await self.by_offset_id(topic, msg_id)

        try:
            place = decode_offset_message_id(msg_id).store_host
            ports = {address.rpartition(":")[2] for address in await self._clusters.replicas()}
            if str(place.port) not in ports:
                return None
            (message,) = (await read_from_each((join_address(place.ip, place.port),), ask)).values()
        except (DecodeError, BrokerError, ChannelError):
            return None  # then it is a sender's
        return message

    async def by_unique_key(
        self,
        topic: str,
        msg_id: str,
        *,
        begin: int = 0,
        end: int = FOREVER,
        cluster: str | None = None,
    ) -> tuple[StoredMessage, ...]:
        """Find messages by the sender's id; a retried send may have several (code 12).

        Java searches the last three days by default. Java: ``queryMessageByUniqKey``.

        Args:
            begin: earliest store time, milliseconds since 1970.
            end: latest store time.
            cluster: only on brokers of this one; of a lite topic's queue (``%LMQ%...``) the parent
                topic, mqadmin's ``-c``.
        """
        header = QueryMessageRequestHeader(
            topic=topic, key=msg_id, max_num=MAX_UNIQUE, begin_timestamp=begin, end_timestamp=end
        )
        messages = await self._query(header, cluster, unique=True)
        return tuple(message for message in messages if message.msg_id == msg_id)

    async def by_key(
        self,
        topic: str,
        key: str,
        *,
        max_num: int = 64,
        begin: int = 0,
        end: int = FOREVER,
        cluster: str | None = None,
        last_key: str | None = None,
    ) -> tuple[StoredMessage, ...]:
        """Find messages by a key of the sender (code 12; Java: ``queryMessage``).

        For the arguments see ``by_unique_key``.

        Args:
            key: one of a message's keys.
            max_num: most messages of each broker.
            begin: earliest store time, milliseconds since 1970.
            end: latest store time.
            cluster: see ``by_unique_key``.
            last_key: continue after this entry of an index in RocksDB (``index_key``; since 5.5.0).
        """
        header = QueryMessageRequestHeader(
            topic=topic, key=key, max_num=max_num, begin_timestamp=begin, end_timestamp=end,
            last_key=last_key,
        )  # fmt: skip
        return await self._indexed(header, cluster, lambda message: key in _keys(message))

    async def by_tag(
        self,
        topic: str,
        tag: str,
        *,
        max_num: int = 64,
        begin: int = 0,
        end: int = FOREVER,
        cluster: str | None = None,
        last_key: str | None = None,
    ) -> tuple[StoredMessage, ...]:
        """Find messages by a tag, from brokers that index tags (code 12, since 5.5.0).

        Java: ``queryMessage``.; as ``by_key``.
        """
        header = QueryMessageRequestHeader(
            topic=topic, key=tag, max_num=max_num, begin_timestamp=begin, end_timestamp=end,
            index_type=INDEX_OF_TAGS, last_key=last_key,
        )  # fmt: skip
        return await self._indexed(header, cluster, lambda message: _tag(message) == tag)

    async def _indexed(
        self,
        header: QueryMessageRequestHeader,
        cluster: str | None,
        holds: Callable[[StoredMessage], bool],
    ) -> tuple[StoredMessage, ...]:
        """Query messages, and compare keys exactly: brokers compare hash codes only."""
        messages = await self._query(header, cluster, unique=False)
        topic = header.topic or ""
        is_routed = has_own_route(topic)  # messages of a lite topic are its parent's
        return tuple(
            message
            for message in messages
            if (message.topic == topic or not is_routed) and holds(message)
        )

    async def _query(
        self, header: QueryMessageRequestHeader, cluster: str | None, *, unique: bool
    ) -> list[StoredMessage]:
        topic = header.topic or ""
        addresses = list((await self._clusters.of_topic(topic, by=cluster)).values())
        if cluster is not None and has_own_route(topic):
            of_cluster = await self._clusters.replicas(cluster)
            addresses = [a for a in addresses if a in of_cluster]
        elif cluster is not None and topic.startswith(LMQ_PREFIX):
            header = replace(header, topic=cluster)
        fields = {**encode_header(header), UNIQUE_KEY_QUERY: str(unique).lower()}
        accepted = (ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND)

        async def ask(address: str) -> tuple[StoredMessage, ...]:
            answer = await self.ask(
                address, Code.QUERY_MESSAGE, fields, accepted=accepted, within=self.within * 3
            )
            return _messages_of(answer.command.body)

        messages_by_address = await read_from_each(addresses, ask)
        return [message for messages in messages_by_address.values() for message in messages]


def _messages_of(body: bytes | None) -> tuple[StoredMessage, ...]:
    """The messages of an answer; one whose body cannot be decompressed keeps it as it was stored.

    Raises:
        DecodeError: one of them has more faults than that.
    """
    try:
        read = StoredMessageReader().read(body or b"")
    except MissingPackageError:
        return decode_stored_messages(body or b"", decompress=False)
    messages = list(read.messages)
    for unreadable in read.unreadable:
        if unreadable.stored is None:
            raise unreadable.error
        messages.append(unreadable.stored)
    return (*messages, *decode_stored_messages(read.rest, decompress=False))


def index_key(message: StoredMessage, index_type: str, key: str) -> str:
    """Return the name of a message's entry in an index in RocksDB.

    ``last_key`` of the next query (Java: ``QueryMsgByKeySubCommand``).

    Args:
        kind: ``K`` for a key, ``T`` for a tag.
        key: the key or tag that was asked for.
    """
    hour = message.store_timestamp - message.store_timestamp % HOUR_MILLIS
    return f"{hour}@{message.topic}@{index_type}@{key}@{message.msg_id}@{message.commit_log_offset}"


def _keys(message: StoredMessage) -> list[str]:
    return ((message.properties or {}).get(const.KEYS) or "").split(const.KEY_SEPARATOR)


def _tag(message: StoredMessage) -> str | None:
    return (message.properties or {}).get(const.TAGS)
