"""``slave``: a master and its slave.

The slave began at the start of the master's last file and ended before the master did.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client import Message
from rocketwire.errors import BrokerError
from rocketwire.messages.message_queue import MessageQueue
from tests.support.stores.answers import Answers, ask_everything
from tests.support.stores.cluster import PATIENCE, StoreCluster
from tests.support.stores.kinds import plain
from tests.support.stores.recording import take_store, truth_of, until_dispatched
from tests.support.stores.sending import Sender, text_body
from tests.support.stores.store import SLAVE, TRUTH
from tests.support.stores.truth import Sent, save

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.support.stores.cluster import Session
    from tests.support.stores.truth import Truth

AFTER: Final = 40
"""Messages that both have because the slave was there."""
LAST: Final = 12
"""Messages that only the master has."""
CONFIGURATION: Final = ("consumerOffset", "subscriptionGroup")
SLAVE_OPTIONS: Final = {"brokerId": 1, "brokerRole": "SLAVE", "slaveReadEnable": "true"}


def make(folder: Path, release: str) -> Truth:
    """Make both stores and save the truth of the slave's; returns the truth of the master's."""
    topics = tuple(plain.TOPICS)
    with StoreCluster(folder, release) as master:
        sent = list(trio.run(_fill, master, release))
        slave = StoreCluster(
            folder,
            release,
            SLAVE_OPTIONS,
            name_server=master.name_server,
            home="home-slave",
        )
        with slave:
            sent += trio.run(_fill_both, master, slave)
            slave_sent, slave_answers = trio.run(_ask_slave, slave, sent, topics)
            slave.stop()
        sent += trio.run(_fill_rest, master)
        answers = trio.run(_ask, master, sent, topics)
        master.stop()
    begin = min(int(path.name) for path in (slave.store / "commitlog").iterdir())
    notes = {"slave_from": begin, "slave_until": _end(slave_sent), "master_only": LAST}
    slave_truth = truth_of(release, "slave", slave, slave_sent, notes, slave_answers, topics)
    (folder / SLAVE).mkdir()
    take_store(folder / SLAVE, slave)
    save(slave_truth, folder / SLAVE / TRUTH)
    truth = truth_of(release, "slave", master, tuple(sent), notes, answers, topics)
    take_store(folder, master)
    return truth


def _end(sent: Sequence[Sent]) -> int:
    """Where the last of these messages begins."""
    return max(_place(one) for one in sent)


def _place(sent: Sent) -> int:
    return int(sent.offset_msg_id[-16:], 16)


async def _fill(master: StoreCluster, release: str) -> Sequence[Sent]:
    async with master.session() as session:
        sender = Sender(session)
        await plain.fill(session, sender, release)
        await until_dispatched(session, sender.sent)
        return sender.sent


async def _fill_both(master: StoreCluster, slave: StoreCluster) -> Sequence[Sent]:
    """Send when the slave has begun, and wait until it has everything."""
    async with master.session() as session:
        sender = Sender(session)
        await sender.send_all([Message(plain.ORDERS, b"first after the slave")], (0,))
        await _until_slave_has(replace(session, address=slave.broker.address), sender.sent)
        messages = (
            Message(
                plain.ORDERS,
                text_body(60 + 200 * number, number),
                tags="both",
                keys=(f"both-{number}",),
            )
            for number in range(AFTER)
        )
        await sender.send_all(messages, range(4))
        await _until_slave_has(replace(session, address=slave.broker.address), sender.sent)
        with trio.fail_after(PATIENCE):
            while not _has_configuration(slave):
                await trio.sleep(0.5)
        return sender.sent


def _has_configuration(slave: StoreCluster) -> bool:
    """Whether the slave has the groups and their offsets from its master."""
    paths = [slave.store / "config" / f"{name}.json" for name in CONFIGURATION]
    return all(path.exists() and plain.GROUPS[0] in path.read_text() for path in paths)


async def _until_slave_has(session: Session, sent: Sequence[Sent]) -> None:
    """Wait until the slave answers the last of these messages."""
    last = sent[-1]
    queue = MessageQueue(topic=last.topic, broker_name="broker-a", queue_id=last.queue_id)
    with trio.fail_after(PATIENCE):
        while True:
            try:
                end = await session.client.brokers.max_offset(session.address, queue)
            except BrokerError:
                end = 0
            if end > last.queue_offset:
                return
            await trio.sleep(0.2)


async def _ask_slave(
    slave: StoreCluster, sent: Sequence[Sent], topics: Sequence[str]
) -> tuple[tuple[Sent, ...], Answers]:
    async with slave.session() as session:
        begin = min(int(path.name) for path in (slave.store / "commitlog").iterdir())
        held = tuple(one for one in sent if _place(one) >= begin)
        return held, await ask_everything(session, held, topics)


async def _fill_rest(master: StoreCluster) -> Sequence[Sent]:
    async with master.session() as session:
        sender = Sender(session)
        messages = (
            Message(plain.BILLS, text_body(90, number), keys=(f"master-{number}",))
            for number in range(LAST)
        )
        await sender.send_all(messages, (0, 1))
        return sender.sent


async def _ask(master: StoreCluster, sent: Sequence[Sent], topics: Sequence[str]) -> Answers:
    async with master.session() as session:
        await until_dispatched(session, sent)
        return await ask_everything(session, sent, topics)
