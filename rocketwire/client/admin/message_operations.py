"""What became of messages: their trace, handling them now, sending them back.

``message_search`` finds them.

Java: ``DefaultMQAdminExtImpl``, ``QueryMsgTraceByIdSubCommand``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.client.addresses import join_address
from rocketwire.client.admin.message_search import FOREVER, Finding
from rocketwire.client.consumer.retry import build_send_back_header
from rocketwire.client.trace.dispatcher import TRACE_TOPIC
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.transactions import ResumeCheckHalfMessageRequestHeader
from rocketwire.policy.trace_records import read_trace

if TYPE_CHECKING:
    from rocketwire.client.admin.clusters import Clusters
    from rocketwire.client.admin.consumers import Consumers
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult
    from rocketwire.policy.trace_records import TraceContext
    from rocketwire.wire.message.stored import StoredMessage


class Messages(Finding):
    """Calls about messages.

    All of them raise what ``Asking.ask`` raises, and ``TopicRouteNotFoundError`` for unknown
    topics.
    """

    def __init__(
        self, client: ClientInstance, clusters: Clusters, consumers: Consumers, within: float
    ) -> None:
        """Nothing is sent yet."""
        super().__init__(client, clusters, within)
        self._consumers = consumers

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
        """Have one member of a group handle a message now (codes 33 or 12, 309).

        None where there is no such message.

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
        """Have a group get a message again, by way of its retry topic (code 36.

        Java: ``consumerSendMessageBack``).

        Args:
            message: which.
            group: who.
            delay_level: -1 for its dead letters, 0 to have the broker choose, else 1 to 18.
            max_reconsume_times: tries before the dead letters.

        Raises:
            BrokerError: 26, the broker does not know the group; 1, the message is gone.
        """
        header = build_send_back_header(group, message, delay_level, max_reconsume_times)
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
