"""Pops and lite topics, as operators see them; lite topics are new in 5.5.0.

Java: ``MQClientAPIImpl``, ``LiteManagerProcessor``, ``ExportPopRecordCommand``.
"""

from __future__ import annotations

from rocketwire.client.admin.fanout import Asking
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.lite import (
    GetBrokerLiteInfoResponseBody,
    GetLiteClientInfoRequestHeader,
    GetLiteClientInfoResponseBody,
    GetLiteGroupInfoRequestHeader,
    GetLiteGroupInfoResponseBody,
    GetLiteTopicInfoRequestHeader,
    GetLiteTopicInfoResponseBody,
    GetParentTopicInfoRequestHeader,
    GetParentTopicInfoResponseBody,
    TriggerLiteDispatchRequestHeader,
)
from rocketwire.messages.pop import PollingInfoRequestHeader, PollingInfoResponseHeader


class LiteTopics(Asking):
    """Calls about lite topics and pops, to brokers by address.

    All of them raise what ``Asking.ask`` raises.

    Brokers before 5.5.0 answer 3 to those about lite topics.
    """

    async def of_broker(self, address: str) -> GetBrokerLiteInfoResponseBody:
        """Numbers about all lite topics of a broker (code 200074)."""
        found: GetBrokerLiteInfoResponseBody
        found = await self.body_of(address, Code.GET_BROKER_LITE_INFO)
        return found

    async def parent(self, address: str, topic: str) -> GetParentTopicInfoResponseBody:
        """Numbers about a parent topic (code 200075).

        Raises:
            BrokerError: 29, it is no parent of lite topics; 17, there is no such topic.
        """
        found: GetParentTopicInfoResponseBody
        header = GetParentTopicInfoRequestHeader(topic=topic)
        found = await self.body_of(address, Code.GET_PARENT_TOPIC_INFO, header)
        return found

    async def topic(
        self, address: str, parent_topic: str, lite_topic: str
    ) -> GetLiteTopicInfoResponseBody:
        """Who subscribes to a lite topic, and its offsets (code 200076).

        Errors as of ``parent``.
        """
        found: GetLiteTopicInfoResponseBody
        header = GetLiteTopicInfoRequestHeader(parent_topic=parent_topic, lite_topic=lite_topic)
        found = await self.body_of(address, Code.GET_LITE_TOPIC_INFO, header)
        return found

    async def client_info(
        self, address: str, parent_topic: str, group: str, client_id: str, *, max_count: int = 1000
    ) -> GetLiteClientInfoResponseBody:
        """To which lite topics a client subscribes (code 200077); errors as of ``parent``.

        Args:
            address: of the broker.
            parent_topic: whose lite topics.
            group: of the client.
            client_id: whose subscriptions.
            max_count: lite topics to name.
        """
        found: GetLiteClientInfoResponseBody
        header = GetLiteClientInfoRequestHeader(
            parent_topic=parent_topic, group=group, client_id=client_id, max_count=max_count
        )
        found = await self.body_of(address, Code.GET_LITE_CLIENT_INFO, header)
        return found

    async def group(
        self, address: str, group: str, lite_topic: str | None = None, *, top_k: int = 20
    ) -> GetLiteGroupInfoResponseBody:
        """How far a group is with its lite topics (code 200078).

        The ``top_k`` that are most behind are named.

        Raises:
            BrokerError: 26, there is no such group; 29, it reads no lite topics.
        """
        found: GetLiteGroupInfoResponseBody
        header = GetLiteGroupInfoRequestHeader(group=group, lite_topic=lite_topic, top_k=top_k)
        found = await self.body_of(address, Code.GET_LITE_GROUP_INFO, header)
        return found

    async def trigger_dispatch(
        self, address: str, group: str, client_id: str | None = None
    ) -> None:
        """Have a broker look now for messages of a group's lite topics (code 200079), or of one client's; errors as of ``group``."""
        header = TriggerLiteDispatchRequestHeader(group=group, client_id=client_id)
        await self.ask(address, Code.TRIGGER_LITE_DISPATCH, header)

    # ------------------------------------------------------------------ pops

    async def polling_num(self, address: str, group: str, topic: str, queue_id: int = -1) -> int:
        """How many pops of a group wait at a queue, -1 for any (code 200055.

        Java: ``pollingInfoAsync``).

        Raises:
            BrokerError: 17, 26: there is no such topic, or group.
        """
        header = PollingInfoRequestHeader(consumer_group=group, topic=topic, queue_id=queue_id)
        answer = await self.client.brokers.call(
            address, Code.POLLING_INFO, header, within=self.within
        )
        found: PollingInfoResponseHeader = answer.header
        return found.polling_num or 0

    async def export_pop_records(self, address: str) -> None:
        """Have a broker write what its pop store knows back as messages (code 200056), so that an older one can take over.

        Java: ``exportPopRecords``.
        """
        await self.ask(address, Code.POP_ROLLBACK, within=self.within * 6)
