"""Invalid and contradictory options of ``produce`` and ``consume``; no connection is opened."""

import argparse

import pytest

from rocketwire_tools.admin.commands.consume import subscription
from rocketwire_tools.admin.commands.produce import BATCH_BYTES, batches, describe_failures
from rocketwire_tools.cli.arguments import host_and_port, hosts_and_ports, property_pair, seconds
from tests.support.admin_in_process import run

PRODUCE = ("produce", "-t", "T")
CONSUME = ("consume", "-t", "T", "-g", "g")


@pytest.mark.parametrize(
    "words",
    [
        (*PRODUCE, "--transaction", "commit", "--oneway"),
        (*PRODUCE, "--transaction", "commit", "--batch", "2"),
        (*PRODUCE, "--transaction", "maybe"),
        (*PRODUCE, "--batch", "2", "--oneway"),
        (*PRODUCE, "--batch", "2", "--delay-level", "1"),
        (*PRODUCE, "--batch", "0"),
        (*PRODUCE, "--size", "5"),
        (*PRODUCE, "--property", "a"),
        ("produce",),
        (*CONSUME, "--orderly", "--pop"),
        (*CONSUME, "--pull", "--fail-first"),
        (*CONSUME, "--broadcast", "--fail-first"),
        (*CONSUME, "--pop", "--from", "1700000000000"),
        (*CONSUME, "--from", "yesterday"),
        (*CONSUME, "--filter", "a > 5"),
        (*CONSUME, "--timeout", "0"),
        ("consume", "-t", "T"),
        (*PRODUCE[:-1], "a b", "--count", "1"),
        (*PRODUCE, "-g", "a b", "--count", "1"),
        ("updateTopic", "-t", "T", "-b", "a:1", "-r", "-5"),
        ("updateSubGroup", "-g", "g", "-b", "a:1", "-q", "-1"),
        ("brokerStatus", "-b", "nowhere", "-n", "a:1"),
        ("producer", "-b", "nowhere:99999", "-n", "a:1"),
        ("getControllerConfig", "-a", "a:1;b", "-n", "a:1"),
        ("getControllerConfig", "-a", "", "-n", "a:1"),
        ("diff", "a:1"),
        ("diff", "a:1", "b"),
        ("diff", "a:1;b:1", "c:1"),
    ],
)
def test_words_that_make_no_sense_are_wrong_usage(words: tuple[str, ...]) -> None:
    result = run(*words)

    assert (2, "") == (result.status, result.out)
    assert result.complaint


def test_without_a_name_server_one_is_asked_for() -> None:
    result = run("doctor")

    assert (2, 1) == (result.status, result.complaint.count("\n"))
    assert "NAMESRV_ADDR" in result.complaint


def test_a_filter_is_tags_or_an_expression() -> None:
    assert "*" == subscription(None)
    assert "a || b" == subscription("a || b")
    assert ("a > 5", "SQL92") == subscription("sql: a > 5")
    assert ("a > 5", "SQL92") == subscription("SQL:a > 5")


def test_batches_are_no_longer_and_no_larger_than_they_may_be() -> None:
    small = [b"%d" % number for number in range(5)]
    half = b"x" * (BATCH_BYTES // 2 + 1)

    assert [small[:2], small[2:4], small[4:]] == list(batches(small, 2))
    assert [[half], [half, b"y"]] == list(batches([half, half, b"y"], 9))
    assert [] == list(batches([], 9))


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "x"])
def test_seconds_are_more_than_nothing(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        seconds(text)
    assert 0.5 == seconds("0.5")


def test_unknown_command_is_an_error() -> None:
    similar, foreign = run("topicstats"), run("help", "xyz")
    option = run("topicList", "--outptu", "json")

    assert (2, 2, 2) == (similar.status, foreign.status, option.status)
    assert similar.complaint.endswith(
        "error: unknown command 'topicstats'; did you mean topicStatus?; see rocketwire-admin --help\n"
    )
    assert "did you mean" not in foreign.complaint
    text = "topicList: error: unrecognized arguments: --outptu json; did you mean --output"
    assert text in option.complaint


def test_help_shows_the_forms_of_a_time() -> None:
    text = " ".join(run("queryMsgByKey", "--help").out.split())

    assert "latest store time: now, 2h ago, " in text


def test_addresses_are_hosts_and_ports() -> None:
    assert "a:1" == host_and_port("a:1")
    assert ("a:1", "b:2") == hosts_and_ports("a:1; b:2;")
    with pytest.raises(argparse.ArgumentTypeError, match="not host:port: 'b'"):
        hosts_and_ports("a:1;b")


def test_properties_are_pairs() -> None:
    assert ("a", "b=c") == property_pair("a=b=c")
    with pytest.raises(argparse.ArgumentTypeError):
        property_pair("=b")


@pytest.mark.parametrize(
    ("lost", "following", "text"),
    [
        ([], None, ""),
        ([], 7, "; not sent: 7 and later"),
        ([3], None, "; also not acknowledged: 3"),
        ([3, 4, 5, 7, 9, 10], 11, "; also not acknowledged: 3-5, 7, 9-10; not sent: 11 and later"),
    ],
)  # fmt: skip
def test_failures_are_described(lost: list[int], following: int | None, text: str) -> None:
    assert text == describe_failures(lost, following)


def test_ids_of_brokers_to_forget_are_numbers() -> None:
    result = run("cleanBrokerMetadata", "-a", "127.0.0.1:1", "-bn", "a", "-b", "1;two")

    assert (2, "") == (result.status, result.out)
    assert "'1;two': must be numbers" in result.complaint
