"""Messages: traces, and requests to handle or send them again.

``message_search`` finds them.

Java: ``DefaultMQAdminExtImpl``, ``QueryMsgTraceByIdSubCommand``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.client.addresses import join_address
from rocketwire.client.admin.consumers import Consumers
from rocketwire.client.admin.message_search import FOREVER, MessageSearch
from rocketwire.client.consumer.retry import build_send_back_header
from rocketwire.client.trace.dispatcher import TRACE_TOPIC
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.transactions import ResumeCheckHalfMessageRequestHeader
from rocketwire.policy.trace_records import TraceContext, read_trace

if TYPE_CHECKING:
    from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult
    from rocketwire.wire.message.stored import StoredMessage


class Messages(MessageSearch):
    """Requests for messages.

    For errors see ``AdminCalls.ask``; ``TopicRouteNotFoundError`` for unknown topics.
    """

    async def trace(
        self,
        msg_id: str,
        *,
        trace_topic: str = TRACE_TOPIC,
        max_num: int = 64,
        begin: int = 0,
        end: int = FOREVER,
    ) -> list[TraceContext]:
        """Fetch the trace of a message: its senders and consumers, in order of time (code 12).

        Only clients with enabled trace are recorded, a few seconds later.
        Java: ``QueryMsgTraceByIdSubCommand``.

        Args:
            msg_id: id of the sender.
            trace_topic: the trace topic.
            max_num: most trace messages.
            begin: earliest time of a record, milliseconds since 1970.
            end: latest time of a record.
        """
        messages = await self.by_key(trace_topic, msg_id, max_num=max_num, begin=begin, end=end)
        records = (
            record
            for message in messages
            for record in read_trace((message.body or b"").decode("utf-8", "replace"))
            if record.msg_id == msg_id
        )
        unique = dict.fromkeys(records)
        return sorted(unique, key=lambda record: record.time_stamp or 0)

    async def consume_directly(
        self, group: str, client_id: str, topic: str, msg_id: str
    ) -> ConsumeMessageDirectlyResult | None:
        """Let a member of a group handle a message now (codes 33 or 12, 309).

        None if the message does not exist. Java: ``DefaultMQAdminExt.consumeMessageDirectly``.

        Raises:
            BrokerError: 206, the member is not connected; 207, it did not respond in time.
        """
        message = await self.by_id(topic, msg_id)
        if message is None:
            return None
        address = join_address(message.store_host.ip, message.store_host.port)
        return await Consumers(self.client, self.within).consume_directly(
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
        """Send a message back, so that a group gets it again (code 36).

        Java: ``consumerSendMessageBack``.

        Args:
            delay_level: -1 for a dead letter, 0 to let the broker choose, else 1 to 18.
            max_reconsume_times: attempts before a message becomes a dead letter.

        Raises:
            BrokerError: 26, the broker does not have the group; 1, the message has expired.
        """
        header = build_send_back_header(group, message, delay_level, max_reconsume_times)
        address = join_address(message.store_host.ip, message.store_host.port)
        await self.ask(address, Code.CONSUMER_SEND_MSG_BACK, header)

    async def resume_half(self, topic: str, msg_id: str) -> bool:
        """Let a broker check an expired half message again (code 323); returns whether it exists.

        Java: ``resumeCheckHalfMessage``.

        Raises:
            BrokerError: 1, the broker could not store it again.
        """
        message = await self.by_id(topic, msg_id)
        if message is None:
            return False
        header = ResumeCheckHalfMessageRequestHeader(topic=topic, msg_id=message.offset_msg_id)
        address = join_address(message.store_host.ip, message.store_host.port)
        await self.ask(address, Code.RESUME_CHECK_HALF_MESSAGE, header)
        return True
