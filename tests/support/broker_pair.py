"""Two brokers without sockets that forward requests to each other, and a static topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.messages import encode_body
from rocketwire.messages.static_topics import LogicQueueMappingItem, TopicQueueMappingDetail
from tests.support.broker import BrokerAtHand, Client

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.tables.forwards import Forward

TOPIC = "ledger"
BLOCK = 10_000


def item(broker: str, gen: int = 0, start: int = 0, **more: int) -> LogicQueueMappingItem:
    """A section at a broker, with its first logical offset."""
    return LogicQueueMappingItem(bname=broker, gen=gen, logic_offset=start, **more)


def detail(
    broker: str, *items: LogicQueueMappingItem, epoch: int = 1, number: int = 0, total: int = 1
) -> TopicQueueMappingDetail:
    """The mapping of a static topic at a broker."""
    return TopicQueueMappingDetail(
        topic=TOPIC,
        bname=broker,
        epoch=epoch,
        total_queues=total,
        hosted_queues={number: items} if items else {},
    )


class Pair:
    """Two brokers, ``broker-a`` and ``broker-b``.

    Attributes:
        homes: the brokers.
        clients: a connection to each.
        waiting: forwarded requests, while ``is_slow``.
        is_slow: whether forwarded requests wait for ``deliver``.
    """

    def __init__(self) -> None:
        names = ("broker-a", "broker-b")
        self.homes = [BrokerAtHand(broker_name=name) for name in names]
        self.clients = [home.connect() for home in self.homes]
        self.waiting: list[tuple[BrokerAtHand, Forward]] = []
        self.is_slow = False
        self._inner = {name: home.connect() for name, home in zip(names, self.homes, strict=True)}
        for home in self.homes:
            home.broker.forwards.on_asked = lambda home=home: self._forward(home)

    @property
    def first(self) -> Client:
        """A connection to the first broker."""
        return self.clients[0]

    @property
    def second(self) -> Client:
        """A connection to the second broker."""
        return self.clients[1]

    def _forward(self, home: BrokerAtHand) -> None:
        for forward in home.broker.forwards.take():
            self.waiting.append((home, forward))
        if not self.is_slow:
            self.deliver()

    def deliver(self, *, is_lost: bool = False) -> None:
        """Bring the forwarded requests to their brokers, and their answers back."""
        waiting, self.waiting = self.waiting, []
        for home, forward in waiting:
            client = self._inner.get(forward.broker_name)
            answer = None
            if client is not None and not is_lost:
                answer = client.call(forward.code, forward.ext_fields)
            forward.answered(answer, home.now)
            home.settle()

    def create(
        self, client: Client, mapping: TopicQueueMappingDetail, queues: int = 1, **changes: object
    ) -> RemotingCommand:
        """Create or change the static topic at one of them (513)."""
        fields: dict[str, object] = {
            "topic": TOPIC,
            "defaultTopic": "TBW102",
            "readQueueNums": queues,
            "writeQueueNums": queues,
            "perm": 6,
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": 0,
            "order": False,
            "force": False,
        }
        return client.call(513, {**fields, **changes}, encode_body(mapping))

    def create_at_first(self) -> None:
        """Create the topic with one queue at the first broker."""
        self.create(self.first, detail("broker-a", item("broker-a")))
        self.create(self.second, detail("broker-b"), queues=0)

    def move_to_second(self, start: int = BLOCK, **more: int) -> None:
        """Let the second broker lead the queue from now on."""
        items = item("broker-a", **more), item("broker-b", 1, start)
        for client, name in ((self.second, "broker-b"), (self.first, "broker-a")):
            answer = self.create(client, detail(name, *items, epoch=2))
            assert answer.code == 0, answer.remark

    def send(self, client: Client, *texts: str) -> list[tuple[int, int]]:
        """Send messages; return the logical queue and offset of each."""
        places: list[tuple[int, int]] = []
        for text in texts:
            fields = client.send(TOPIC, text.encode()).ext_fields or {}
            places.append((int(fields["queueId"]), int(fields["queueOffset"])))
        return places
