"""Requests of operators for pops and lite topics, which are new in 5.5.0.

Java: ``MQClientAPIImpl``, ``LiteManagerProcessor``, ``ExportPopRecordCommand``.
"""

from __future__ import annotations

from rocketwire.client.admin.fanout import AdminCalls
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


class LiteTopics(AdminCalls):
    """Requests for lite topics and pops, to brokers by address.

    Brokers before 5.5.0 respond 3 to requests for lite topics. For a topic without lite topics
    ``BrokerError`` is 29, for an unknown one 17, and for an unknown group 26.
    """

    async def of_broker(self, address: str) -> GetBrokerLiteInfoResponseBody:
        """Fetch statistics of all lite topics of a broker (code 200074)."""
        return await self.fetch(GetBrokerLiteInfoResponseBody, address, Code.GET_BROKER_LITE_INFO)

    async def parent(self, address: str, topic: str) -> GetParentTopicInfoResponseBody:
        """Fetch statistics of a parent topic (code 200075)."""
        header = GetParentTopicInfoRequestHeader(topic=topic)
        return await self.fetch(
            GetParentTopicInfoResponseBody, address, Code.GET_PARENT_TOPIC_INFO, header
        )

    async def topic(
        self, address: str, parent_topic: str, lite_topic: str
    ) -> GetLiteTopicInfoResponseBody:
        """Fetch subscribers and offsets of a lite topic (code 200076)."""
        header = GetLiteTopicInfoRequestHeader(parent_topic=parent_topic, lite_topic=lite_topic)
        return await self.fetch(
            GetLiteTopicInfoResponseBody, address, Code.GET_LITE_TOPIC_INFO, header
        )

    async def client_info(
        self, address: str, parent_topic: str, group: str, client_id: str, *, max_count: int = 1000
    ) -> GetLiteClientInfoResponseBody:
        """Fetch at most ``max_count`` subscriptions of a client (code 200077)."""
        header = GetLiteClientInfoRequestHeader(
            parent_topic=parent_topic, group=group, client_id=client_id, max_count=max_count
        )
        return await self.fetch(
            GetLiteClientInfoResponseBody, address, Code.GET_LITE_CLIENT_INFO, header
        )

    async def group(
        self, address: str, group: str, lite_topic: str | None = None, *, top_k: int = 20
    ) -> GetLiteGroupInfoResponseBody:
        """Fetch the progress of the ``top_k`` lite topics with the largest lag (code 200078)."""
        header = GetLiteGroupInfoRequestHeader(group=group, lite_topic=lite_topic, top_k=top_k)
        return await self.fetch(
            GetLiteGroupInfoResponseBody, address, Code.GET_LITE_GROUP_INFO, header
        )

    async def trigger_dispatch(
        self, address: str, group: str, client_id: str | None = None
    ) -> None:
        """Let a broker dispatch messages of a group's or client's lite topics now (code 200079)."""
        header = TriggerLiteDispatchRequestHeader(group=group, client_id=client_id)
        await self.ask(address, Code.TRIGGER_LITE_DISPATCH, header)

    # ------------------------------------------------------------------ pops

    async def polling_num(self, address: str, group: str, topic: str, queue_id: int = -1) -> int:
        """Fetch the number of waiting pops of a group at a queue, -1 for any (code 200055).

        Java: ``pollingInfoAsync``.
        """
        header = PollingInfoRequestHeader(consumer_group=group, topic=topic, queue_id=queue_id)
        answer = await self.client.brokers.call(
            address, Code.POLLING_INFO, header, within=self.within
        )
        header_fields: PollingInfoResponseHeader = answer.header
        return header_fields.polling_num or 0

    async def export_pop_records(self, address: str) -> None:
        """Let a broker write its pop store back as messages, for an older version (code 200056).

        Java: ``exportPopRecords``.
        """
        await self.ask(address, Code.POP_ROLLBACK, within=self.within * 6)
