"""Clients of lite topics of a broker without sockets."""

from dataclasses import replace
from typing import Any

from rocketwire.messages.enums import LiteSubscriptionAction as Action
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.lite import LiteSubscriptionCtlRequestBody, LiteSubscriptionDTO
from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import BrokerAtHand, Client, bodies

PARENT = "rooms"
GROUP = "room-readers"


def light(lite_topic: str) -> str:
    return f"%LMQ%${PARENT}${lite_topic}"


def put_parent(home: BrokerAtHand, name: str = PARENT, *, minutes: int = -1) -> None:
    attributes = {"message.type": "LITE", "lite.topic.expiration": str(minutes)}
    topic = replace(new_topic(name, 2), attributes=attributes)
    home.broker.topics.put(topic, home.now)


def put_group(home: BrokerAtHand, name: str = GROUP, **attributes: str) -> None:
    """Create a group that reads the lite topics of ``PARENT``; ``_`` stands for a dot."""
    changes = {key.replace("_", "."): text for key, text in attributes.items()}
    group = SubscriptionGroupConfig(
        group_name=name, attributes={"lite.bind.topic": PARENT, **changes}
    )
    home.broker.groups.put(group, home.now)


def start_lite_broker(**settings: Any) -> BrokerAtHand:
    home = BrokerAtHand(**settings)
    put_parent(home)
    put_group(home)
    return home


class Reader:
    def __init__(
        self, home: BrokerAtHand, client: Client, client_id: str = "reader", group: str = GROUP
    ) -> None:
        self.client = client
        self.client_id = client_id
        self.group = group
        self._home = home

    def change(self, action: Action, *names: str, **members: Any) -> RemotingCommand:
        return self.client.call(200071, {}, self.body(action, *names, **members))

    def body(self, action: Action, *names: str, **members: Any) -> LiteSubscriptionCtlRequestBody:
        change = LiteSubscriptionDTO(
            action=action,
            client_id=self.client_id,
            group=self.group,
            topic=PARENT,
            lite_topic_set=names,
        )
        return LiteSubscriptionCtlRequestBody(subscription_set=(replace(change, **members),))

    def subscribe(self, *names: str, **members: Any) -> RemotingCommand:
        return self.change(Action.PARTIAL_ADD, *names, **members)

    def ask(
        self, count: int = 32, invisible: int = 10_000, poll: int = 0, **changes: object
    ) -> int:
        """Ask for messages; return the request's number. Times are milliseconds."""
        fields: dict[str, object] = {
            "clientId": self.client_id,
            "consumerGroup": self.group,
            "topic": PARENT,
            "maxMsgNum": count,
            "invisibleTime": invisible,
            "pollTime": poll,
            "bornTime": self._home.now,
        }
        return self.client.ask(200070, {**fields, **changes})

    def answer(self, **settings: Any) -> RemotingCommand:
        """Ask for messages, and return the answer, which must come at once."""
        return self.client.take_answer(self.ask(**settings))

    def pop(self, **settings: Any) -> list[bytes]:
        answer = self.answer(**settings)
        return bodies(answer) if answer.code == 0 else []

    def ack(
        self, lite_topic: str, offset: int, pop_time: int | None = None, **changes: Any
    ) -> RemotingCommand:
        return self.client.call(200051, self._handle(lite_topic, offset, pop_time) | changes)

    def hide(
        self, lite_topic: str, offset: int, milliseconds: int, **changes: Any
    ) -> RemotingCommand:
        fields = self._handle(lite_topic, offset, None) | {"invisibleTime": milliseconds}
        return self.client.call(200053, fields | changes)

    def _handle(self, lite_topic: str, offset: int, pop_time: int | None) -> dict[str, object]:
        time = self._home.now if pop_time is None else pop_time
        return {
            "consumerGroup": self.group,
            "topic": PARENT,
            "liteTopic": lite_topic,
            "queueId": 0,
            "extraInfo": f"0 {time} 10000 999 0 broker-a 0 {offset}",
            "offset": offset,
        }


def send(
    client: Client, lite_topic: str, *texts: str, topic: str = PARENT, delay: str = ""
) -> None:
    properties = {"__LITE_TOPIC": lite_topic} | ({"DELAY": delay} if delay else {})
    for text in texts:
        answer = client.send(topic, text.encode(), properties=properties)
        assert answer.code == 0
