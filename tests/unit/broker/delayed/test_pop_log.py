"""Records of pops, as a broker of 5.5.0 wrote them (store ``pop-5.5.0``)."""

import json
from pathlib import Path

import pytest

from rocketwire_broker.delayed.pops import PopLog, hide, log_pops, show
from rocketwire_broker.tables.pops import HiddenMessage, Origin
from tests.support.broker import START, messages
from tests.support.broker_folder import BrokerWithFolder

REVIVE = "rmq_sys_REVIVE_LOG_DefaultCluster"


@pytest.fixture
def home(tmp_path: Path) -> BrokerWithFolder:
    home = BrokerWithFolder(tmp_path)
    for offset in (5, 7):
        hide(home.broker, make_message(offset), Origin(5, 3, START + 60_000))
    log_pops(home.broker, START)
    return home


def make_message(offset: int) -> HiddenMessage:
    return HiddenMessage("poppers", "tasks", 0, offset, START)


def test_a_check_point_is_like_that_of_java(home: BrokerWithFolder) -> None:
    [record] = messages(home.connect().pull_now(0, "rmq_sys_wheel_timer"))

    assert record.body == (
        b'{"bm":0,"bn":"broker-a","c":"poppers","d":[0,2],"it":60000,"n":2,'
        b'"pt":1700000000000,"q":0,"reviveTime":1700000060000,"ro":0,"so":5,"sp":false,"t":"tasks"}'
    )
    assert record.properties == {
        "REAL_TOPIC": REVIVE,
        "TIMER_DELIVER_MS": "1700000059000",
        "UNIQ_KEY": "tasks@0@5@poppers@1700000000000@broker-a@ck",
        "TAGS": "ck",
        "TIMER_OUT_MS": "1700000058000",
        "REAL_QID": "3",
    }


def test_acknowledgements_are_like_those_of_java(home: BrokerWithFolder) -> None:
    show(home.broker, make_message(5))
    log_pops(home.broker, START)
    hide(home.broker, make_message(8), Origin(5, 3, START + 60_000))
    log_pops(home.broker, START)
    for offset in (7, 8):
        show(home.broker, make_message(offset))
    log_pops(home.broker, START)

    _, single, _, several = messages(home.connect().pull_now(0, "rmq_sys_wheel_timer"))

    common = {"bn": "broker-a", "c": "poppers", "pt": START, "q": 0, "so": 5, "t": "tasks"}
    assert json.loads(single.body or b"") == {"ao": 5, **common}
    assert json.loads(several.body or b"") == {"ao": -1, "aol": [7, 8], **common}
    assert [(record.properties or {})["TAGS"] for record in (single, several)] == ["ack", "bAck"]
    key = "tasks@0@-1@poppers@1700000000000@broker-a@ack"
    assert (several.properties or {})["UNIQ_KEY"] == key


def test_short_pop_leaves_no_record(home: BrokerWithFolder) -> None:
    count = home.broker.store.put_count
    hide(home.broker, make_message(9), Origin(9, 0, START + 60_000))
    show(home.broker, make_message(9))

    log_pops(home.broker, START)

    assert home.broker.store.put_count == count


def test_time_beyond_that_of_timers_is_written_at_once(home: BrokerWithFolder) -> None:
    hide(home.broker, make_message(9), Origin(9, 2, START + 30 * 86_400_000))

    log_pops(home.broker, START)

    assert home.broker.store.max_offset(REVIVE, 2) == 1


def test_invalid_records_are_ignored(home: BrokerWithFolder) -> None:
    log = PopLog()
    for tag in ("ck", "ack", "bAck", "other"):
        log.add(tag, b"{", 0)

    log.hide_all(home.broker)

    assert len(home.broker.pops) == 2
