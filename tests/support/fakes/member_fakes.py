"""A producer and a consumer that record their calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult, ConsumerRunningInfo
from rocketwire.messages.enums import CMResult, ConsumeType, MessageModel
from rocketwire.messages.heartbeat import ConsumerData, SubscriptionData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.route import TopicRouteData
from rocketwire.messages.send import ReplyMessageRequestHeader
from rocketwire.messages.transactions import CheckTransactionStateRequestHeader
from rocketwire.wire.message.stored import StoredMessage


@dataclass
class Producer:
    group: str = "p"
    topic_names: tuple[str, ...] = ("T",)
    heard: list[object] = field(default_factory=list[object])
    replies: tuple[bytes, ...] = ()

    def topics(self) -> tuple[str, ...]:
        return self.topic_names

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        self.heard.append((topic, len(route.broker_datas or ())))

    async def check_transaction(
        self, address: str, header: CheckTransactionStateRequestHeader, message: StoredMessage
    ) -> None:
        self.heard.append((address, header.msg_id, message.topic))

    def reply_received(self, header: ReplyMessageRequestHeader, body: bytes) -> bool:
        self.heard.append((header.topic, body))
        return body in self.replies


@dataclass
class Consumer:
    group: str = "g"
    topic_names: tuple[str, ...] = ("T",)
    heard: list[object] = field(default_factory=list[object])

    def topics(self) -> tuple[str, ...]:
        return self.topic_names

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        self.heard.append((topic, len(route.broker_datas or ())))

    def heartbeat(self) -> ConsumerData:
        return ConsumerData(
            group_name=self.group,
            consume_type=ConsumeType.CONSUME_PASSIVELY,
            message_model=MessageModel.CLUSTERING,
            subscription_data_set=tuple(
                SubscriptionData(topic=topic, sub_string="*", sub_version=1)
                for topic in self.topic_names
            ),
        )

    def rebalance_soon(self) -> None:
        self.heard.append("rebalance")

    async def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None:
        self.heard.append((topic, dict(offsets)))

    def offsets(self, topic: str) -> Mapping[MessageQueue, int]:
        return {MessageQueue(broker_name="b", queue_id=1, topic=topic): 7}

    def running_info(self) -> ConsumerRunningInfo:
        return ConsumerRunningInfo(properties={"PROP_CONSUME_TYPE": "CONSUME_PASSIVELY"})

    async def consume_directly(
        self, message: StoredMessage, broker_name: str
    ) -> ConsumeMessageDirectlyResult:
        return ConsumeMessageDirectlyResult(
            consume_result=CMResult.CR_SUCCESS, remark=f"{message.topic} of {broker_name}"
        )
