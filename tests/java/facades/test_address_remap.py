"""A broker that registers an address where nothing listens, as in Kubernetes and behind NAT."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest

from rocketwire.client import LocalTransactionState, Message
from rocketwire.client.consumer.pop.pop import InitMode
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.messages.topic_config import TopicConfig
from tests.java.facades.dialects import ALL, Face, run
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.cluster import BROKER, ROOM
from tests.peers.messages import unique
from tests.peers.peers import JavaBroker, JavaNameServer
from tests.support.admin_process import run as run_admin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.wire.message.stored import StoredMessage

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET


class Hidden(NamedTuple):
    """A name server, and its broker.

    Attributes:
        registered: address where nothing listens.
        reachable: address where the broker listens.
    """

    name_server: str
    registered: str
    reachable: str


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hidden]:
    folder = tmp_path_factory.mktemp("hidden")
    with JavaNameServer(folder / "namesrv") as name_server:
        options = {**BROKER, "brokerIP1": "127.99.99.99"}
        with JavaBroker(folder / "broker", [name_server.address], options, jvm=ROOM) as broker:
            reachable = broker.address
            broker.address = reachable.replace("127.0.0.1", "127.99.99.99")
            broker.wait_registered(name_server.port)
            yield Hidden(name_server.address, broker.address, reachable)


async def settle(value: Any) -> Any:
    """The result of an admin's call, which threads get at once."""
    return await value if inspect.isawaitable(value) else value


@pytest.mark.parametrize("namespace", ["MQ_INST_123_ab", pytest.param("", marks=pytest.mark.full)])
@pytest.mark.parametrize("dialect", ALL)
def test_programs_reach_it_through_a_remap(hidden: Hidden, dialect: str, namespace: str) -> None:
    """With a namespace, the name server is reached through the endpoint of a managed cloud."""
    topic = unique("remapped")
    stored_topic = f"{namespace}%{topic}" if namespace else topic
    host, _, port = hidden.registered.rpartition(":")
    remap = {f"{host[:-2]}*:{port}": hidden.reachable.removesuffix(f":{port}")}
    name_server = hidden.name_server
    if namespace:
        name_server = f"http://{namespace}.mq.invalid:80/"
        remap["*.mq.invalid"] = hidden.name_server
    config = patient(namesrv_addr=name_server, address_remap=remap)
    received: dict[str, list[tuple[str | None, bytes | None]]] = {
        "push": [],
        "pop": [],
        "lite pull": [],
    }
    checked: list[tuple[str, bytes | None]] = []

    def receive(how: str) -> Any:
        def in_thread(messages: Any, *_: object) -> None:  # a pop consumer gives one
            several = isinstance(messages, (list, tuple))
            each: Sequence[StoredMessage] = cast("Any", messages) if several else (messages,)
            received[how] += [(message.topic, message.body) for message in each]

        async def in_loop(messages: Any, *_: object) -> None:
            in_thread(messages)

        return in_thread if dialect == "threads" else in_loop

    def check(message: StoredMessage) -> LocalTransactionState:
        checked.append((message.topic, message.body))
        return LocalTransactionState.COMMIT_MESSAGE

    async def scenario(face: Face) -> None:
        unknown = face.function(lambda *_: LocalTransactionState.UNKNOW)
        async with (
            await face.open("admin", config, within=PATIENCE) as admin,
            await face.open(
                "producer", config, unique("p"), check=check, send_msg_timeout=PATIENCE
            ) as producer,
        ):
            made = TopicConfig(topic_name=stored_topic, read_queue_nums=1, write_queue_nums=1)
            changed = await settle(admin.topics.create_or_update(made, cluster="DefaultCluster"))
            assert changed == (hidden.registered,)
            bodies = [b"%d" % number for number in range(20)]  # more than without own connections
            sent = [await producer.send(Message(topic, body)) for body in bodies]
            await producer.send_in_transaction(Message(topic, b"checked"), unknown)
            assert {result.message_queue.topic for result in sent} == {topic}
            found = await settle(admin.messages.by_offset_id(stored_topic, sent[0].offset_msg_id))
            assert found.body == b"0"
            expected = sorted((topic, body) for body in (*bodies, b"checked"))
            async with (
                await face.open(
                    "push_consumer",
                    config,
                    unique("g"),
                    {topic: "*"},
                    receive("push"),
                    consume_from_where=FIRST,
                ),
                await face.open(
                    "pop_consumer",
                    config,
                    unique("g"),
                    {topic: "*"},
                    receive("pop"),
                    init_mode=InitMode.MIN,
                ),
                await face.open(
                    "lite_pull_consumer", config, unique("g"), consume_from_where=FIRST
                ) as puller,
            ):
                await settle(puller.subscribe(topic))
                polled = received["lite pull"]
                deadline = time.monotonic() + 60
                while any(sorted(found) != expected for found in received.values()):
                    assert time.monotonic() < deadline, received
                    batch = await puller.poll(0.1)
                    polled += [(m.topic, m.body) for m in (batch.messages if batch else ())]
            assert checked == [(topic, b"checked")]

    run(dialect, scenario)


def test_commands_reach_it_through_a_remap_and_doctor_shows_both_addresses(
    hidden: Hidden, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = ("-n", hidden.name_server, "--request-timeout", "120")
    lost = run_admin("brokerStatus", "-b", hidden.registered, "-n", hidden.name_server)
    assert (lost.status, "Connection refused" in lost.complaint) == (3, True)
    monkeypatch.setenv("ROCKETWIRE_ADDRESS_MAP", f"127.99.*={hidden.reachable}")

    topic = unique("remapped")
    assert run_admin("updateTopic", "-c", "DefaultCluster", "-t", topic, *servers).status == 0
    produced = run_admin("produce", "-t", topic, "-o", "json", *servers, given=b"hello\n")
    assert produced.status == 0, produced
    (sent,) = produced.lines
    found = run_admin("queryMsgById", "-t", topic, "-i", sent["msgId"], "-o", "json", *servers)
    assert found.status == 0, found
    doctor = run_admin("doctor", "-t", topic, "-o", "json", *servers)
    (row,) = (row for row in doctor.rows if row["kind"] == "broker" and row["name"] == "broker-a")

    assert row["status"] == "ok"
    assert row["finding"] == (
        f"master {hidden.registered} responds at {hidden.reachable}, to which it is mapped, V5_5_0;"
        " not at its registered address (Connection refused)"
    )
