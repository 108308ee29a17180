"""Two Java consumers and two of rocketwire in a group: allocation, and death of members."""

import select
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple, Self

import trio

from rocketwire.client import ClientInstance, Message, Producer, open_client, open_producer
from rocketwire.codes import RequestCode
from tests.java.client.client_process import note_deliveries
from tests.peers.cache import ROOT
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, eventually, unique
from tests.peers.peers import JavaPeer
from tests.peers.processes import START_SECONDS, Child, PeerFailedError


class OurProgram:
    def __init__(self, folder: Path, module: str, *words: object) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        paths = ":".join(map(str, (ROOT, ROOT / "namesrv", ROOT / "tools")))
        command = [sys.executable, "-m", module, *map(str, words)]
        self._child = Child("ours", command, folder, environment={"PYTHONPATH": paths}, piped=True)

    def line(self, seconds: float = START_SECONDS) -> str:
        stdout = self._child.process.stdout
        if stdout is None or not select.select([stdout], [], [], seconds)[0]:
            raise PeerFailedError(f"no line in {seconds} s: {self._child.output[-2000:]}")
        result = stdout.readline().decode().strip()
        if not result:
            raise PeerFailedError(f"it ended: {self._child.output[-2000:]}")
        return result

    def kill(self) -> None:
        self._child.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()


QUEUES = 8
MODES = ("concurrently", "orderly")
SHORT_LOCKS = ["-Drocketmq.broker.rebalance.lockMaxLiveTime=4000"]
"""A lock of a member that died is free after this, instead of a minute."""


class Delivery(NamedTuple):
    millis: int
    queue_id: int
    offset: int
    member: str


class Group(NamedTuple):
    name: str
    mode: str
    folder: Path

    def file(self, member: str) -> Path:
        return self.folder / f"{self.mode}-{member}.txt"

    def read_deliveries(self) -> list[Delivery]:
        deliveries: list[Delivery] = []
        for file in self.folder.glob(f"{self.mode}-*.txt"):
            for line in file.read_text().splitlines():
                millis, queue_id, offset = map(int, line.split())
                deliveries.append(Delivery(millis, queue_id, offset, file.stem))
        return sorted(deliveries)


class World:
    def __init__(
        self, client: ClientInstance, broker: str, topic: str, groups: tuple[Group, ...]
    ) -> None:
        self.client = client
        self.broker = broker
        self.topic = topic
        self.groups = groups
        self.sent: set[tuple[int, int]] = set()

    async def send(self, producer: Producer) -> None:
        while True:
            result = await producer.send(Message(self.topic, b"x"), within=PATIENCE)
            self.sent.add((result.message_queue.queue_id, result.queue_offset))
            await trio.sleep(0.01)

    async def _list_owned(self, group: str) -> list[list[int]]:
        owned: list[list[int]] = []
        for client_id in await self.client.brokers.consumer_ids(self.broker, group):
            fields = {"consumerGroup": group, "clientId": client_id}
            info = await self.client.brokers.call(
                self.broker, RequestCode.GET_CONSUMER_RUNNING_INFO, fields, within=PATIENCE
            )
            queues = [q.queue_id for q in info.body.mq_table or () if q.topic == self.topic]
            owned.append(queues)
        return owned

    async def until_shared_by(self, members: int) -> None:
        async def is_shared() -> bool:
            for group in self.groups:
                owned = await self._list_owned(group.name)
                everything = sorted(queue for queues in owned for queue in queues)
                if len(owned) != members or everything != list(range(QUEUES)) or not all(owned):
                    return False
            return True

        await eventually(is_shared, 180)

    async def until_all_is_consumed(self) -> None:
        async def is_consumed() -> bool:
            return all(
                {delivery[1:3] for delivery in group.read_deliveries()} >= self.sent
                for group in self.groups
            )

        await eventually(is_consumed)


def check_duplicates(deliveries: list[Delivery]) -> None:
    newest: dict[int, str] = {}
    moves, times = Counter[int](), Counter[tuple[int, int, int]]()
    for _, queue_id, offset, member in deliveries:
        moves[queue_id] += newest.get(queue_id) != member
        newest[queue_id] = member
        times[queue_id, offset, moves[queue_id]] += 1
    assert [place for place, count in times.items() if count > 1] == []


def check_order(deliveries: list[Delivery]) -> None:
    newest: dict[int, int] = {}
    for delivery in deliveries:
        last = newest.get(delivery.queue_id, -1)
        if delivery.offset > last:
            assert delivery.offset == last + 1, delivery
            newest[delivery.queue_id] = delivery.offset


async def test_every_queue_has_one_owner_while_members_join_and_die(
    java_cluster: JavaCluster, java_peer: JavaPeer, tmp_path: Path
) -> None:
    broker = java_cluster.broker("broker-mixed", jvm=SHORT_LOCKS)
    address = java_cluster.address
    groups = tuple(Group(unique(mode), mode, tmp_path) for mode in MODES)
    names = {group: unique("java") for group in groups}
    in_thread = trio.to_thread.run_sync

    async def join(java: JavaPeer, topic: str, group: Group, name: str) -> None:
        words = ("note", address, topic, group.name, name, group.mode, group.file(name))
        await in_thread(lambda: java.call(*words))

    config = patient(namesrv_addr=address)
    async with open_client(config) as operator, open_client(config) as client:
        topic = await create_topic(operator, unique("mixed"), queues=QUEUES, broker=broker.name)
        world = World(operator, broker.address, topic, groups)
        ours = [
            word for group in groups for word in (group.name, group.mode, group.file("killed-ours"))
        ]
        dying_java = await in_thread(JavaPeer, tmp_path / "java")
        with (
            dying_java,
            OurProgram(
                tmp_path / "ours", "tests.java.client.client_process", address, topic, *ours
            ) as dying,
        ):
            async with (
                open_producer(operator, unique("p"), patient_producer()) as producer,
                note_deliveries(client, topic, groups[0].name, MODES[0], groups[0].file("ours")),
                note_deliveries(client, topic, groups[1].name, MODES[1], groups[1].file("ours")),
                trio.open_nursery() as nursery,
            ):
                nursery.start_soon(world.send, producer)
                for group in groups:
                    await join(java_peer, topic, group, names[group])
                    await join(dying_java, topic, group, "killed-java")
                await in_thread(dying.line)
                await world.until_shared_by(4)
                dying_java.__exit__()
                await world.until_shared_by(3)
                dying.kill()
                await world.until_shared_by(2)
                for group in groups:
                    await in_thread(java_peer.close, names[group])
                await world.until_shared_by(1)
                nursery.cancel_scope.cancel()
                with trio.CancelScope(shield=True):
                    await world.until_all_is_consumed()

    for group in groups:
        check_duplicates(group.read_deliveries())
    check_order(groups[1].read_deliveries())
    assert len(world.sent) > 100
