"""Warnings about outages: at once, then at growing intervals, and one line at the end."""

import logging
from itertools import pairwise

import pytest
import trio

from rocketwire import errors
from rocketwire.client.outages import (
    FIRST_INTERVAL,
    LONGEST_INTERVAL,
    MAX_REASONS,
    NAME_SERVERS,
    Outages,
    WarningInterval,
    advice_on,
)
from tests.support.fakes.consumer_fakes import list_logged


@pytest.fixture
def outages(caplog: pytest.LogCaptureFixture) -> Outages:
    """Outages that are logged with all levels."""
    caplog.set_level(logging.INFO, "rocketwire.client")
    return Outages()


def test_warnings_are_due_at_once_and_then_at_doubling_intervals() -> None:
    interval = WarningInterval(100.0)
    due = [now for now in range(1200) if interval.is_due("refused", 100.0 + now)]
    assert due[:6] == [0, 10, 30, 70, 150, 310]
    assert {later - earlier for earlier, later in pairwise(due[5:])} == {LONGEST_INTERVAL}
    assert len(due) < 10


def test_a_new_reason_is_due_at_once_and_a_recurring_one_is_not() -> None:
    interval = WarningInterval(0.0)
    assert interval.is_due("refused", 0.0)
    assert interval.is_due("no topic", 1.0)
    assert not interval.is_due("refused", 2.0)
    assert not interval.is_due("no topic", 3.0)
    assert interval.is_due("refused", 1.0 + FIRST_INTERVAL)


def test_numbers_in_a_reason_are_ignored_and_reasons_are_bounded() -> None:
    interval = WarningInterval(0.0)
    assert interval.is_due("10.0.0.1:10911: no answer within 2.97 s", 0.0)
    assert not interval.is_due("10.0.0.2:10911: no answer within 3 s", 1.0)
    due = [interval.is_due("x" * number, 2.0) for number in range(1, 100)]
    assert sum(due) == MAX_REASONS - 1


def test_nothing_is_due_before_patience_is_over() -> None:
    interval = WarningInterval(5.0)
    assert not interval.is_due("busy", 5.0, patience=3.0)
    assert not interval.is_warned
    assert interval.is_due("busy", 8.0, patience=3.0)
    assert interval.is_warned


async def test_an_outage_is_one_warning_with_advice_and_one_line_when_it_is_over(
    autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "rocketwire.client")
    outages = Outages("group g")
    for _ in range(8):
        outages.report("topic T", errors.TopicRouteNotFoundError("T"))
        await trio.sleep(1)
    outages.end("topic T")
    outages.end("topic T")

    assert list_logged(caplog) == [
        "group g: topic T: no route of topic T"
        " (check the name, or create the topic, for example with rocketwire-admin updateTopic)"
    ]
    assert list_logged(caplog, logging.INFO)[1:] == ["group g: topic T: works again, after 8 s"]
    assert len(outages) == 0


async def test_an_outage_lasts_until_each_part_works_or_does_not_matter_any_more(
    outages: Outages, autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    for part in "abc":
        outages.report("pulls", "refused", part=part)
    outages.end("pulls", "a")
    outages.forget("pulls", "b")
    assert len(outages) == 1
    outages.end("pulls", "c")

    assert list_logged(caplog, logging.INFO) == ["pulls: refused", "pulls: works again, after 0 s"]
    outages.report("pulls", "refused")
    outages.forget("pulls")
    outages.forget("pulls")
    assert len(outages) == 0
    assert "works again" not in caplog.messages[-1]


GONE = errors.ConnectFailedError("b:1: refused")
SILENT = errors.RequestTimeoutError("b:1", 11, 3.0)


async def test_an_unreachable_server_is_one_warning_for_all_requests(
    outages: Outages, autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(100):
        outages.report("pulls", GONE)
        outages.report("queues", SILENT)
        outages.report("offsets", f"offset 1 was not stored: {GONE}", cause=GONE)
        await trio.sleep(1)
    assert {line.partition(":")[0] for line in list_logged(caplog)} == {"pulls"}
    assert len(list_logged(caplog)) == 4
    for subject in ("queues", "offsets", "pulls"):
        outages.end(subject)
    assert list_logged(caplog, logging.INFO)[4:] == ["pulls: works again, after 100 s"]


async def test_another_server_and_a_refusal_are_warnings_of_their_own(
    outages: Outages, autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    outages.report("pulls", GONE)
    outages.report("queues", errors.ConnectFailedError("b:2: refused"))
    outages.report("offsets", errors.BrokerError(16, "no", 11, "b:1"))
    outages.report("locks", errors.IllegalAddressError("b"))
    outages.report("heartbeats", errors.IllegalAddressError("b"))
    assert [line.partition(":")[0] for line in list_logged(caplog)] == [
        "pulls", "queues", "offsets", "locks", "heartbeats",
    ]  # fmt: skip


async def test_a_server_is_warned_of_as_long_as_anything_fails_because_of_it(
    outages: Outages, autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    outages.report("pulls", "busy", patience=3)
    outages.report("queues", errors.BrokerError(16, "no", 11, "b:1"))
    assert len(list_logged(caplog)) == 1
    for _ in range(40):  # both have been warned of, for other reasons too
        outages.report("pulls", GONE)
        outages.report("queues", GONE)
        await trio.sleep(1)
    assert [line.partition(":")[0] for line in list_logged(caplog)] == ["queues", *["pulls"] * 3]
    outages.end("pulls")
    outages.report("queues", GONE)
    assert list_logged(caplog)[-1].startswith("queues: b:1: refused")


async def test_an_outage_that_ends_before_its_warning_is_not_logged(
    outages: Outages, autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    outages.report("pulls", "busy", patience=3)
    outages.end("pulls")
    assert caplog.messages == []


async def test_name_servers_and_topics_have_separate_outages(
    outages: Outages, autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    for topic in ("A", "B", "%RETRY%g"):
        outages.report_route(topic, errors.ConnectFailedError("a:1: refused"))
    assert len(list_logged(caplog)) == 1
    assert NAME_SERVERS in caplog.messages[0]

    outages.report_route("%RETRY%g", errors.TopicRouteNotFoundError("%RETRY%g"))
    assert caplog.messages[-1] == f"{NAME_SERVERS}: works again, after 0 s"
    outages.report_route("A", errors.TopicRouteNotFoundError("A"))
    assert list_logged(caplog)[-1].startswith("topic A: no route (check")
    outages.end_route("A")
    outages.end_route("A")
    assert caplog.messages[-1] == "topic A: works again, after 0 s"


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (errors.BrokerError(16, "no", 11, "b:1"), "permission"),
        (errors.BrokerError(26, "no", 11, "b:1"), "updateSubGroup"),
        (errors.BrokerError(17, "no", 11, "b:1"), "updateTopic"),
        (errors.BrokerError(1, "o.a.r.acl.common.AclException: no", 11, "b:1"), "credentials"),
        (errors.BrokerError(1, "no", 11, "b:1"), ""),
        (errors.BrokerNotFoundError("b"), "registered"),
        (errors.IllegalAddressError("b"), "brokerIP1"),
        (errors.RequestTimeoutError("b:1", 11, 3.0), "overloaded"),
        (errors.ConnectFailedError("b:1"), "TLS"),
        (errors.NoNameServerError("set namesrv_addr"), ""),
        (errors.DecodeError("no"), ""),
    ],
)
def test_advice_depends_on_the_error(error: Exception, advice: str) -> None:
    assert advice in advice_on(error)
    assert bool(advice) is bool(advice_on(error))


@pytest.mark.parametrize(
    ("subject", "reason", "line"),
    [
        ("pulls from broker b\x1b[2J", "no\x07", "pulls from broker b\\x1b[2J: no\\x07"),
        (
            "pulls",
            errors.BrokerError(17, "topic[T] not exist! \nSee http://x\r\n", 11, "b:1"),
            "pulls: b:1: request PULL_MESSAGE (11): TOPIC_NOT_EXIST (17) topic[T] not exist! See http://x (",
        ),
        (
            "heartbeats to broker 127.0.0.1:1",
            errors.ConnectFailedError("127.0.0.1:1: Connection refused"),
            "heartbeats to broker 127.0.0.1:1: Connection refused (",
        ),
    ],
)
async def test_a_warning_is_one_line_with_the_address_once(
    subject: str, reason: Exception | str, line: str, caplog: pytest.LogCaptureFixture
) -> None:
    Outages().report(subject, reason)
    (logged,) = list_logged(caplog)
    assert logged.startswith(line)
    assert logged.isprintable()


async def test_a_lost_broker_must_be_started(caplog: pytest.LogCaptureFixture) -> None:
    Outages("group g").report_route("T", errors.TopicRouteNotFoundError("T", ("broker-a",)))
    assert list_logged(caplog) == [
        "group g: topic T: no route any more: its broker broker-a has left the name server"
        " (start the broker; the topic is there again when it has registered)"
    ]
