"""Finding messages: by the broker's id, the sender's id, a key or a tag.

``message_browse`` reads places and times.

Java: ``MQAdminImpl``, ``DefaultMQAdminExtImpl``, ``QueryMsgByKeySubCommand``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.client.addresses import join_address
from rocketwire.client.admin.fanout import told_by_each
from rocketwire.client.admin.message_browse import Browsing
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelError, DecodeError, MissingPackageError
from rocketwire.messages import encode_header
from rocketwire.messages import message_const as const
from rocketwire.messages.queries import QueryMessageRequestHeader, ViewMessageRequestHeader
from rocketwire.policy.resource_names import LMQ_PREFIX, has_own_route
from rocketwire.wire.message.ids import decode_offset_message_id
from rocketwire.wire.message.lenient_reader import read_stored_messages
from rocketwire.wire.message.stored import decode_stored_messages

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.wire.message.stored import StoredMessage

INDEX_OF_KEYS: Final = "K"
INDEX_OF_TAGS: Final = "T"
"""Of ``QueryMessageRequestHeader.index_type``: the key is a tag (Java: ``MessageConst.INDEX_TAG_TYPE``)."""

MAX_UNIQUE: Final = 32
"""Messages of one unique key; brokers give no more (Java: ``QueryMessageProcessor``)."""

HOUR_MILLIS: Final = 3_600_000
"""What entries of an index in RocksDB are sorted by."""

FOREVER: Final = 2**63 - 1
"""A time that never comes, in milliseconds."""

UNIQUE_KEY_QUERY: Final = "_UNIQUE_KEY_QUERY"
"""Ext field that says that the key is a unique one (Java: ``MixAll.UNIQUE_MSG_QUERY_FLAG``)."""


class Finding(Browsing):
    """Calls that find messages.

    All of them raise what ``Asking.ask`` raises, and ``TopicRouteNotFoundError`` for unknown
    topics.
    """

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
        messages = _messages_of(body)
        if len(messages) != 1:
            raise DecodeError(f"{len(messages)} messages instead of one", path="body")
        return messages[0]

    async def by_id(
        self, topic: str, msg_id: str, *, cluster: str | None = None
    ) -> StoredMessage | None:
        """The message of an id, be it a broker's or a sender's; None where there is none.

        Both have the same form.  Java connects to whatever address the id would be of; here only to
        brokers that name servers know.  Java: ``DefaultMQAdminExt.viewMessage``.

        Args:
            topic: where.
            msg_id: either id.
            cluster: as of ``by_unique_key``, for a sender's id.
        """
        stored = await self._of_broker(topic, msg_id)
        if stored is not None:
            return stored
        found = await self.by_unique_key(topic, msg_id, cluster=cluster)
        return found[0] if found else None

    async def _of_broker(self, topic: str, msg_id: str) -> StoredMessage | None:
        """The message of an id, if that is a broker's.

        None where it is none, or its broker does not tell.
        """

        async def ask(_: str) -> StoredMessage:
            return await self.by_offset_id(topic, msg_id)

        try:
            place = decode_offset_message_id(msg_id).store_host
            ports = {address.rpartition(":")[2] for address in await self._clusters.replicas()}
            if str(place.port) not in ports:
                return None
            (found,) = (await told_by_each((join_address(place.ip, place.port),), ask)).values()
        except (DecodeError, BrokerError, ChannelError):
            return None  # then it is a sender's
        return found

    async def by_unique_key(
        self,
        topic: str,
        msg_id: str,
        *,
        begin: int = 0,
        end: int = FOREVER,
        cluster: str | None = None,
    ) -> tuple[StoredMessage, ...]:
        """The messages of a sender's id, several after retries of a send (code 12.

        Java: ``queryMessageByUniqKey``).

        Java looks three days back unless told otherwise.

        Args:
            topic: where.
            msg_id: the id.
            begin: stored not before this, milliseconds since 1970.
            end: stored not after this.
            cluster: only on brokers of this one; of a lite topic's queue (``%LMQ%...``) the parent
                topic, mqadmin's ``-c``.
        """
        header = QueryMessageRequestHeader(
            topic=topic, key=msg_id, max_num=MAX_UNIQUE, begin_timestamp=begin, end_timestamp=end
        )
        found = await self._query(header, cluster, unique=True)
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
        last_key: str | None = None,
    ) -> tuple[StoredMessage, ...]:
        """The messages of a key that their sender gave them (code 12; Java: ``queryMessage``).

        Arguments as of ``by_unique_key``.

        Args:
            topic: where.
            key: one of a message's keys.
            max_num: most messages of each broker.
            begin: as above.
            end: as above.
            cluster: as above.
            last_key: go on behind this entry of an index in RocksDB (``index_key``; since 5.5.0).
        """
        header = QueryMessageRequestHeader(
            topic=topic, key=key, max_num=max_num, begin_timestamp=begin, end_timestamp=end, last_key=last_key
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
        """The messages of a tag, from brokers that index them (code 12, since 5.5.0.

        Java: ``queryMessage``); as ``by_key``.
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
        """The messages that are meant: brokers compare hash codes only."""
        found = await self._query(header, cluster, unique=False)
        topic = header.topic or ""
        own = has_own_route(topic)  # messages of a lite topic are its parent's
        return tuple(one for one in found if (one.topic == topic or not own) and holds(one))

    async def _query(
        self, header: QueryMessageRequestHeader, cluster: str | None, *, unique: bool
    ) -> list[StoredMessage]:
        topic = header.topic or ""
        addresses = list((await self._clusters.of_topic(topic, by=cluster)).values())
        if cluster is not None and has_own_route(topic):
            of_cluster = await self._clusters.replicas(cluster)
            addresses = [one for one in addresses if one in of_cluster]
        elif cluster is not None and topic.startswith(LMQ_PREFIX):
            header = replace(header, topic=cluster)
        fields = {**encode_header(header), UNIQUE_KEY_QUERY: str(unique).lower()}
        accepted = (ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND)

        async def ask(address: str) -> tuple[StoredMessage, ...]:
            answer = await self.ask(
                address, Code.QUERY_MESSAGE, fields, accepted=accepted, within=self.within * 3
            )
            return _messages_of(answer.command.body)

        each = await told_by_each(addresses, ask)
        return [message for messages in each.values() for message in messages]


def _messages_of(body: bytes | None) -> tuple[StoredMessage, ...]:
    """The messages of an answer; one whose body cannot be decompressed keeps it as it was stored.

    Raises:
        DecodeError: one of them has more faults than that.
    """
    try:
        read = read_stored_messages(body or b"")
    except MissingPackageError:
        return decode_stored_messages(body or b"", decompress=False)
    messages = list(read.messages)
    for unreadable in read.unreadable:
        if unreadable.stored is None:
            raise unreadable.error
        messages.append(unreadable.stored)
    return (*messages, *decode_stored_messages(read.rest, decompress=False))


def index_key(message: StoredMessage, kind: str, key: str) -> str:
    """What a broker that indexes in RocksDB calls a message's entry.

    ``last_key`` of the next query (Java: ``QueryMsgByKeySubCommand``).

    Args:
        message: which.
        kind: ``K`` for a key, ``T`` for a tag.
        key: the key or tag that was asked for.
    """
    hour = message.store_timestamp - message.store_timestamp % HOUR_MILLIS
    return f"{hour}@{message.topic}@{kind}@{key}@{message.msg_id}@{message.commit_log_offset}"


def _keys(message: StoredMessage) -> list[str]:
    return ((message.properties or {}).get(const.KEYS) or "").split(const.KEY_SEPARATOR)


def _tag(message: StoredMessage) -> str | None:
    return (message.properties or {}).get(const.TAGS)
