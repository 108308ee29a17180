"""A Java broker opens the folder of ours, and ours goes on with it after that."""

import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import trio

from rocketwire.client import ClientConfig, Message, open_client
from rocketwire.client.admin import open_admin
from rocketwire.wire.message.stored import StoredMessage
from tests.peers.dev_cluster import DevBroker
from tests.peers.peers import CURRENT, OLD
from tests.peers.processes import LOOPBACK
from tests.support.broker_pops import Popper
from tests.support.broker_wire import WireClient
from tests.support.stores import plain
from tests.support.stores.answers import Answers, ask_everything
from tests.support.stores.cluster import PATIENCE, SMALL, Session, StoreCluster, copy_store
from tests.support.stores.recording import ask_restarted
from tests.support.stores.sending import Sender
from tests.support.stores.truth import Queue, Sent

DELAYED = "delayed"
HOUR = 3_600
QUIET = {"transactionCheckInterval": 86_400_000, "transactionTimeOut": 86_400_000}
"""Open transactions stay as they are."""

OPTIONS = {**SMALL, **QUIET, "timerWheelEnable": "true", "mappedFileSizeTimerLog": 1 << 20}
TOPICS = (*plain.TOPICS, DELAYED)
SYSTEM = ("SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRANS_HALF_TOPIC", "rmq_sys_wheel_timer")


@asynccontextmanager
async def session_at(broker: DevBroker) -> AsyncGenerator[Session]:
    config = ClientConfig(
        namesrv_addr=f"{LOOPBACK}:{broker.name_server_port}",
        mq_client_api_timeout=PATIENCE,
        connect_timeout=PATIENCE,
    )
    async with open_client(config) as client, open_admin(client) as admin:
        yield Session(client, admin, broker.address)


async def fill(session: Session) -> tuple[Sent, ...]:
    # Send everything that a store can have; what waits does so for an hour.
    sender = Sender(session)
    await plain.fill(session, sender, CURRENT)
    await session.create_topic(DELAYED, 1)
    await sender.send_raw(DELAYED, b"level", "DELAY\x0117\x02")
    await sender.send_raw(DELAYED, b"time", f"TIMER_DELAY_SEC\x01{HOUR}\x02")
    await sender.send_raw(DELAYED, b"half", "TRAN_MSG\x01true\x02PGROUP\x01stores\x02")
    last = len(sender.sent)
    return tuple(
        replace(item, how="half") if number >= last - 3 else item
        for number, item in enumerate(sender.sent)
    )


def comparable(answers: Answers, release: str) -> list[Queue]:
    return [
        replace(queue, by_time=() if release == OLD else queue.by_time)
        for queue in answers.queues
        if queue.topic in (*TOPICS, *SYSTEM)
        and not (release == OLD and queue.topic == "rmq_sys_wheel_timer")
    ]


def assert_alike(answers: Answers, truth: Answers, release: str) -> None:
    assert comparable(answers, release) == comparable(truth, release)
    assert answers.by_id == truth.by_id
    assert answers.consumer_offsets == truth.consumer_offsets
    for ours, java in zip(truth.lookups, answers.lookups, strict=True):
        if (release, ours.index) == (OLD, "T"):  # it has no index of tags
            continue
        extra = set(java.physical_offsets) - set(ours.physical_offsets)
        assert set(ours.physical_offsets) <= set(java.physical_offsets), ours.key
        assert not extra or ours.key in {"Aa", "BB"}, ours.key  # Java compares hash codes


async def fill_and_ask(broker: DevBroker) -> tuple[tuple[Sent, ...], Answers]:
    async with session_at(broker) as session:
        sent = await fill(session)
        await session.wait_until_dispatched()
        return sent, await ask_everything(session, sent, TOPICS)


class Now:
    @property
    def now(self) -> int:
        return int(time.time() * 1000)


def pop_in_order(address: str, acknowledged: Iterable[StoredMessage] = ()) -> list[StoredMessage]:
    client = WireClient(address)
    try:
        popper = Popper(Now(), client)
        for message in acknowledged:
            assert popper.settle(200051, message).code == 0
        return popper.pop(order=True, count=3, invisible=HOUR * 1000)
    finally:
        client.close()


def pop_on(address: str, earlier: list[StoredMessage]) -> list[StoredMessage]:
    # Go on with a pop of which the second message is acknowledged; acknowledge that of the next.
    assert pop_in_order(address) == []
    assert pop_in_order(address, earlier[:1]) == []
    following = pop_in_order(address, earlier[2:])
    assert [message.queue_offset for message in following] == [
        message.queue_offset + 3 for message in earlier
    ]
    assert pop_in_order(address, following[1:2]) == []
    return following


def test_java_and_ours_go_on_with_the_folder_of_the_other(tmp_path: Path) -> None:
    # After an end in order, and after a kill; the old release opens the folder, too.
    broker = DevBroker(tmp_path / "ours", options={**OPTIONS, "storePathRootDir": "store"})
    store = tmp_path / "ours" / "store"
    with broker:
        sent, truth = trio.run(fill_and_ask, broker)
        popped = pop_in_order(broker.address)
        assert pop_in_order(broker.address, popped[1:2]) == []
        broker.stop()
        broker.start()
        sent, truth_later = trio.run(send_and_ask, session_at(broker), sent)
        broker.kill()
    java = StoreCluster(tmp_path / "java", CURRENT, OPTIONS)
    copy_store(store, java.store)

    with java:
        answers, sent_at_java, truth_of_java, popped = trio.run(ask_java, java, sent, popped)
        java.stop()
    old = ask_restarted(tmp_path / "old", OLD, store, sent, TOPICS, options=OPTIONS)
    options = {**OPTIONS, "storePathRootDir": str(java.store)}
    with DevBroker(tmp_path / "again", options=options) as last:
        ours = trio.run(ask, session_at(last), sent_at_java)
        pop_on(last.address, popped)

    assert len(truth_later.by_id) > len(truth.by_id)
    assert_alike(answers, truth_later, CURRENT)
    assert_alike(old, truth_later, OLD)
    assert len(truth_of_java.by_id) > len(truth_later.by_id)
    assert comparable(ours, CURRENT) == comparable(truth_of_java, CURRENT)
    assert ours.by_id == truth_of_java.by_id
    assert ours.consumer_offsets == truth_of_java.consumer_offsets


async def ask_java(
    java: StoreCluster, sent: tuple[Sent, ...], popped: list[StoredMessage]
) -> tuple[Answers, tuple[Sent, ...], Answers, list[StoredMessage]]:
    # The answers of Java at first, and after further pops and messages.
    async with java.session() as session:
        await session.wait_until_dispatched()
        answers = await ask_everything(session, sent, TOPICS)
    popped = await trio.to_thread.run_sync(pop_on, java.broker.address, popped)
    everything, later = await send_and_ask(java.session(), sent)
    return answers, everything, later, popped


async def send_and_ask(
    opening: AbstractAsyncContextManager[Session], sent: tuple[Sent, ...]
) -> tuple[tuple[Sent, ...], Answers]:
    async with opening as session:
        sender = Sender(session)
        await sender.send_all(
            (Message(plain.ORDERS, b"%d" % number, keys=("later",)) for number in range(20)),
            range(4),
        )
        await sender.send_batch([Message(plain.BILLS, b"%d" % item) for item in range(5)], 0)
        everything = (*sent, *sender.sent)
        await session.wait_until_dispatched()
        return everything, await ask_everything(session, everything, TOPICS)


async def ask(opening: AbstractAsyncContextManager[Session], sent: tuple[Sent, ...]) -> Answers:
    async with opening as session:
        return await ask_everything(session, sent, TOPICS)
