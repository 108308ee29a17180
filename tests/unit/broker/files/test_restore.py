"""The next broker with a folder restores messages that wait, transactions and pops."""

from contextlib import suppress
from pathlib import Path

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.stored import StoredMessage
from rocketwire_broker.files.restore import value_of
from rocketwire_broker.tables.topics import new_topic
from tests.support.broker import START, Client, bodies, fields_of
from tests.support.broker_folder import BrokerWithFolder
from tests.support.broker_lite import Reader, light, put_group, put_parent, send
from tests.support.broker_pops import Popper
from tests.support.values import require
from tests.support.virtual_disk import KilledError, VirtualDisk
from tests.unit.broker.groups import HALF_TOPIC, end_transaction, send_half


@pytest.fixture
def home(tmp_path: Path) -> BrokerWithFolder:
    return BrokerWithFolder(tmp_path)


def pull_bodies(home: BrokerWithFolder) -> list[bytes]:
    return bodies(home.connect().pull_now(0))


@pytest.mark.parametrize(
    ("properties", "value"),
    [
        (b"TAGS\x01a\x02", b"a"),
        (b"TAGS\x01a", b"a"),
        (b"a\x01TAGS\x02TAGS\x01b\x02", b"b"),
        (b"TAGS\x01a\x02TAGS\x01b\x02", b"b"),
        (b"OTAGS\x01a\x02", None),
        (b"", None),
    ],
)
def test_a_property_is_found_in_stored_bytes(properties: bytes, value: bytes | None) -> None:
    assert value_of(properties, b"TAGS\x01") == value


def test_tags_choose_messages_as_before(home: BrokerWithFolder, client: Client) -> None:
    for tag in ("a", "b", "a"):
        client.send(body=tag.encode(), properties={"TAGS": tag})

    client = home.restart_after_kill().connect()

    assert bodies(client.pull_now(0, tags="b")) == [b"b"]


def test_lite_topics_go_on_as_before(home: BrokerWithFolder) -> None:
    put_parent(home)
    put_group(home)
    reader = Reader(home, home.connect())
    send(reader.client, "a", "1", "2")
    send(reader.client, "b", "3")
    send(reader.client, "late", "4", delay="2")
    reader.subscribe("a")
    reader.pop(count=1)
    reader.ack("a", 0)

    home = home.restart()
    reader = Reader(home, home.connect())
    reader.subscribe("a", "late")

    assert reader.pop() == [b"2"]
    home.pass_time(6_000)
    assert reader.pop() == [b"4"]
    assert home.broker.store.max_offset(light("b"), 0) == 1


def test_newer_file_of_a_java_broker_has_offsets(home: BrokerWithFolder, tmp_path: Path) -> None:
    put_parent(home)
    home.broker.offsets.commit("readers", "orders", 0, 1, home.now)
    home = home.restart()
    assert not (tmp_path / "config" / "lmqConsumerOffset.json").exists()
    send(home.connect(), "a", "1")
    home.pass_time(10)
    home.broker.offsets.commit("readers", "orders", 0, 2, home.now)
    home = home.restart()

    (tmp_path / "config" / "consumerOffset.json").unlink()
    home = home.restart()
    assert home.broker.offsets.get("readers", "orders", 0) == 2


def test_lite_topics_of_a_deleted_topic_stay_deleted(home: BrokerWithFolder) -> None:
    put_parent(home)
    put_parent(home, "gone")
    client = home.connect()
    send(client, "a", "1")
    send(client, "a", "1", topic="gone")
    client.call(Code.DELETE_TOPIC_IN_BROKER, {"topic": "gone"})

    assert list(home.restart_after_kill().broker.store.lmqs) == [light("a")]


def test_delayed_messages_come_in_time_and_once(home: BrokerWithFolder, client: Client) -> None:
    for level in ("1", "2", "3"):
        client.send(body=level.encode(), properties={"DELAY": level})
    home.pass_time(1_500)
    home = home.restart(1_000)
    home.pass_time(1_000)
    assert pull_bodies(home) == [b"1"]
    home.pass_time(2_000)
    home = home.restart()
    home.pass_time(10_000)

    assert pull_bodies(home) == [b"1", b"2", b"3"]


def test_kill_does_not_repeat_a_delivery(home: BrokerWithFolder, client: Client) -> None:
    for number in range(3):
        client.send(body=b"%d" % number, properties={"DELAY": "1", "UNIQ_KEY": f"K{number}"})
        home.pass_time(400)
    home.pass_time(700)  # two of them are delivered, and no offset is written

    home = home.restart_after_kill()
    home.pass_time(5_000)

    assert pull_bodies(home) == [b"0", b"1", b"2"]


def test_timed_messages_come_in_time_and_once(home: BrokerWithFolder, client: Client) -> None:
    for number, delay in enumerate((3_700, 500, 1_500)):
        properties = {"TIMER_DELAY_MS": str(delay), "UNIQ_KEY": f"K{number}"}
        client.send(body=b"%d" % delay, properties=properties)
    home.pass_time(1_000)

    home = home.restart_after_kill()
    home.pass_time(2_699)
    assert pull_bodies(home) == [b"500", b"1500"]
    home = home.restart_after_kill()
    home.pass_time(1)
    home = home.restart_after_kill()
    home.pass_time(10_000)

    assert pull_bodies(home) == [b"500", b"1500", b"3700"]


def test_recalled_message_stays_away(home: BrokerWithFolder, client: Client) -> None:
    properties = {"TIMER_DELAY_MS": "5000", "UNIQ_KEY": "K"}
    sent = client.send(properties=properties).ext_fields or {}
    fields = {"producerGroup": "p", "topic": "orders", "recallHandle": sent["recallHandle"]}
    assert client.call(Code.RECALL_MESSAGE, fields).code == 0

    home = home.restart_after_kill()
    home.pass_time(10_000)

    assert pull_bodies(home) == []
    assert len(home.restart_after_kill(1).broker.timers) <= 2


def begin_transaction(client: Client, key: str) -> RemotingCommand:
    return send_half(client, key, body=key.encode(), f=4)


def commit(client: Client, sent: RemotingCommand) -> int:
    fields = fields_of(sent)
    return end_transaction(client, int(fields["queueOffset"]), int(fields["msgId"][-16:], 16))


def open_offsets(home: BrokerWithFolder) -> list[int]:
    return [half.offset for half in home.broker.half_messages.open_transactions()]


def test_transactions_stay_decided_or_open(home: BrokerWithFolder, client: Client) -> None:
    sent = [begin_transaction(client, f"K{number}") for number in range(4)]
    commit(client, sent[1])
    home.pass_time(4_000)  # the decision is in its topic
    commit(client, sent[2])

    home = home.restart_after_kill()
    client = home.connect()

    assert open_offsets(home) == [0, 3]
    assert [commit(client, answer) for answer in sent] == [0, 0, 0, 0]
    assert bodies(client.pull_now(0)) == [b"K1", b"K2", b"K0", b"K3"]
    home.pass_time(4_000)
    assert open_offsets(home.restart_after_kill()) == []


def test_first_half_message_may_be_committed(home: BrokerWithFolder, client: Client) -> None:
    sent = begin_transaction(client, "K")
    home.pass_time(100_000)  # checked three times, so it was stored three times more
    assert home.broker.store.max_offset(HALF_TOPIC, 0) == 4

    home = home.restart()

    assert open_offsets(home) == [3]
    assert commit(home.connect(), sent) == 0
    assert pull_bodies(home) == [b"K"]
    assert open_offsets(home.restart()) == []


def connect_popper(home: BrokerWithFolder) -> Popper:
    return Popper(home, home.connect())


def pop_messages(home: BrokerWithFolder, count: int, popped: int) -> list[StoredMessage]:
    home.broker.topics.put(new_topic("orders", 1), home.now)
    popper = connect_popper(home)
    for number in range(count):
        popper.client.send(body=b"%d" % number)
    return popper.pop(count=popped)


@pytest.mark.parametrize("is_killed", [False, True], ids=["ended", "killed"])
def test_popped_messages_stay_hidden_for_a_time(home: BrokerWithFolder, is_killed: bool) -> None:
    messages = pop_messages(home, 4, 3)
    assert connect_popper(home).settle(Code.ACK_MESSAGE, messages[1]).code == 0
    home.pass_time(1_000)
    if is_killed:
        home.folder.persist(home.now)
        home = home.restart_after_kill()
    else:
        home = home.restart()

    popper = connect_popper(home)
    assert [message.body for message in popper.pop()] == [b"3"]
    home.pass_time(8_999)
    assert popper.pop(queue=-1) == []
    home.pass_time(1)

    assert [message.body for message in popper.pop(queue=-1)] == [b"0", b"2"]


def test_an_acknowledgement_after_a_restart_ends_a_pop(home: BrokerWithFolder) -> None:
    messages = pop_messages(home, 3, 32)
    home = home.restart()
    for message in messages[:2]:
        connect_popper(home).settle(Code.ACK_MESSAGE, message)
    home = home.restart()
    assert len(home.broker.pops) == 1

    home.pass_time(60_000)
    home = home.restart()
    home.pass_time(60_000)

    assert home.broker.store.max_offset("%RETRY%poppers_orders", 0) == 1


@pytest.mark.parametrize("bits", [0, 4, 8, 12, 0x40, 0x4C])
def test_bits_of_a_client_do_not_matter_at_a_restart(
    home: BrokerWithFolder, client: Client, bits: int
) -> None:
    client.send(body=b"0", properties={"TRAN_MSG": "true", "UNIQ_KEY": "H"})
    client.send(body=b"1", f=bits)
    client.send(body=b"2", f=bits)
    records = require(home.broker.store.queue("orders", 0)).records(0, 9)

    home = home.restart_after_kill()

    assert len(records) == 2
    assert require(home.broker.store.queue("orders", 0)).records(0, 9) == records
    assert len(open_offsets(home)) == 1


FORGED = {"UNIQ_KEY": "K", "REAL_TOPIC": "orders", "REAL_QID": "0"}


@pytest.mark.parametrize(
    ("waits", "copy"),
    [({"TIMER_DELAY_MS": "5000"}, {"TIMER_OUT_MS": "1"}), ({"DELAY": "2"}, {"DELAY": "2"})],
    ids=["timed", "delayed"],
)
def test_a_copy_of_a_waiting_message_does_not_deliver_it(
    home: BrokerWithFolder, client: Client, waits: dict[str, str], copy: dict[str, str]
) -> None:
    client.send(body=b"waits", properties={"UNIQ_KEY": "K", **waits})
    batch = encode_batch([BatchMessage(body=b"copy", properties={**FORGED, **copy})])
    assert client.send(body=batch, code=Code.SEND_BATCH_MESSAGE, m=True).code == 0

    home = home.restart_after_kill()
    home.pass_time(10_000)

    assert sorted(pull_bodies(home)) == [b"copy", b"waits"]


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"REAL_TOPIC": "orders", "REAL_QID": "x"},
        {"REAL_TOPIC": "orders", "REAL_QID": "-1"},
        {"REAL_TOPIC": "../../x", "REAL_QID": "0"},
        {"REAL_TOPIC": "SCHEDULE_TOPIC_XXXX", "REAL_QID": "0"},
    ],
    ids=["none", "no number", "negative", "no topic", "internal topic"],
)
def test_a_message_in_the_timer_topic_without_a_queue_delays_no_other(
    home: BrokerWithFolder, client: Client, properties: dict[str, str]
) -> None:
    assert client.send("rmq_sys_wheel_timer", properties=properties).code == 0
    client.send(body=b"waits", properties={"TIMER_DELAY_MS": "5000"})

    home = home.restart_after_kill()
    home.pass_time(10_000)
    home = home.restart()

    assert pull_bodies(home) == [b"waits"]
    for place in (("orders", -1), ("../../x", 0), ("SCHEDULE_TOPIC_XXXX", 0)):
        assert home.broker.store.queue(*place) is None


def test_a_delayed_message_for_the_timer_topic_is_not_repeated(home: BrokerWithFolder) -> None:
    home.connect().send("rmq_sys_wheel_timer", properties={"DELAY": "1"})

    for _ in range(3):
        home.pass_time(10_000)
        home = home.restart()

    assert home.broker.store.max_offset("rmq_sys_wheel_timer", 0) == 1


def test_a_batch_is_in_no_light_queue_after_a_restart(home: BrokerWithFolder) -> None:
    put_parent(home)
    forged = {"__LITE_TOPIC": "a", "INNER_MULTI_DISPATCH": light("a")}
    item = BatchMessage(body=b"x", properties={**forged, "INNER_MULTI_QUEUE_OFFSET": "9" * 18})
    client = home.connect()
    assert (
        client.send("rooms", encode_batch([item]), code=Code.SEND_BATCH_MESSAGE, m=True).code == 0
    )

    home = home.restart_after_kill()

    assert not home.broker.store.lmqs


STEPS = range(100)
"""System calls before the kill; the highest numbers are beyond the work."""


def work(client: Client, home: BrokerWithFolder, acknowledged: set[bytes]) -> None:
    def note(key: str, code: int) -> None:
        if code == 0:
            acknowledged.add(key.encode())

    def send(key: str, **properties: str) -> None:
        properties["UNIQ_KEY"] = key
        note(key, client.send(body=key.encode(), properties=properties).code)

    for number in range(3):
        send(f"D{number}", DELAY="1")
        home.pass_time(600)
        send(f"T{number}", TIMER_DELAY_MS="1500")
        home.pass_time(400)
        key = f"H{number}"
        half = fields_of(send_half(client, key, body=key.encode(), f=4))
        offset, position = int(half["queueOffset"]), int(half["msgId"][-16:], 16)
        note(key, end_transaction(client, offset, position))
        if number == 1:
            home.folder.persist(home.now)


@pytest.mark.parametrize("calls", STEPS)
def test_each_message_comes_once(calls: int, tmp_path: Path) -> None:
    acknowledged: set[bytes] = set()
    with VirtualDisk(tmp_path, calls) as disk:
        with suppress(KilledError):
            home = BrokerWithFolder(tmp_path, log_file_size=8_192)
            work(home.connect(), home, acknowledged)
        disk.revive()

    home = BrokerWithFolder(tmp_path, log_file_size=8_192, now=START + 10_000)
    home.pass_time(10_000)
    delivered = bodies(home.connect().pull_now(0))

    assert acknowledged <= set(delivered)
    assert len(delivered) == len(set(delivered)), "none comes twice"
    home = home.restart_after_kill()
    home.pass_time(10_000)
    assert bodies(home.connect().pull_now(0)) == delivered
