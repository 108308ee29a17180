"""One line for each failure, with advice."""

import pytest

from rocketwire.codes import RequestCode
from rocketwire.errors import (
    BrokerError,
    BrokerNotFoundError,
    ConnectFailedError,
    IllegalAddressError,
    IllegalMessageError,
    NoNameServerError,
    RocketWireError,
    TopicRouteNotFoundError,
)
from rocketwire_tools.spark.topics.sink.attempts import SinkError, describe, first_error, may_pass


def broker_error(code: int, remark: str = "") -> BrokerError:
    return BrokerError(code, remark, RequestCode.SEND_MESSAGE_V2, "b:1")


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (TopicRouteNotFoundError("a"), "create the topic, let its brokers"),
        (NoNameServerError("no name server"), "set option 'nameServers'"),
        (ConnectFailedError("b:1 refused"), "check that brokers and name servers run"),
        (BrokerNotFoundError("b"), "check that brokers and name servers run"),
        (IllegalMessageError("too long"), "correct the rows"),
        (broker_error(16), "check the credentials"),
        (broker_error(13), "shorten the rows"),
        (broker_error(13, "timer message illegal, the delay time"), "let rows wait for less time"),
        (broker_error(17), "create the topic"),
        (broker_error(2), "check the broker's load"),
        (broker_error(26), "check the broker's log"),
    ],
)
def test_error_becomes_a_line_with_advice(error: RocketWireError, advice: str) -> None:
    line = describe(error, "a")

    assert line.startswith("topic a: ")
    assert f": {advice}" in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (broker_error(2), True),
        (broker_error(1, "disk"), True),
        (broker_error(1, "AclException: wrong"), False),
        (broker_error(13), False),
        (ConnectFailedError("x"), True),
        (IllegalAddressError("x"), False),
        (BrokerNotFoundError("b"), True),
        (TopicRouteNotFoundError("a"), False),
        (IllegalMessageError("x"), False),
    ],
)
def test_temporary_errors_may_pass(error: RocketWireError, passes: bool) -> None:
    assert may_pass(error) == passes


def test_long_text_of_a_broker_is_cut() -> None:
    assert len(describe(broker_error(1, "x" * 9999), "a")) < 500


def test_error_of_a_group_is_the_most_specific_one() -> None:
    nested = BaseExceptionGroup("g", [ValueError("v"), BaseExceptionGroup("h", [SinkError("s")])])

    assert str(first_error(nested)) == "s"
    assert str(first_error(BaseExceptionGroup("g", [ValueError("v")]))) == "v"
