"""Log lines name each thing once, and no client can forge one."""

import pytest

from rocketwire.codes import RequestCode
from rocketwire.serving.events import format_value
from rocketwire_namesrv.config.access_control import AccessRefused
from rocketwire_namesrv.events import (
    ClusterRemoved,
    ConfigUpdated,
    MinBrokerIdChanged,
    RequestFailed,
    TopicRouteRegistered,
)

PEER = "10.1.2.3:50584"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        ("orders", "orders"),
        (("orders",), "[orders]"),
        (("orders", "payments", "..."), "[orders, payments, ...]"),
        ((), "[]"),
        ((None, 1), "[null, 1]"),
        (("a\nb",), "[a\\x0ab]"),
        (RequestCode.PUT_KV_CONFIG, "PUT_KV_CONFIG (100)"),
        (RequestCode(4711), "code 4711"),
        (RequestCode(-1), "code -1"),
    ],
)
def test_a_value_is_shown_as_an_operator_writes_it(value: object, expected: str) -> None:
    assert format_value(value) == expected


def test_many_values_are_cut_like_a_long_one() -> None:
    text = format_value(tuple(f"topic-{number}" for number in range(1000)))

    assert len(text) < 600
    assert "characters)" in text


def test_the_address_of_the_peer_is_in_a_line_once() -> None:
    refused = AccessRefused(
        client=PEER, code=RequestCode.PUT_KV_CONFIG, setting="rocketwire.adminAddresses"
    )

    assert refused.line(PEER) == (
        "request PUT_KV_CONFIG (100) of 10.1.2.3:50584 refused: its address is not in"
        " rocketwire.adminAddresses"
    )
    assert refused.line("10.1.2.3:5058") == f"{refused.text} [10.1.2.3:5058]"
    assert ClusterRemoved(cluster="c").line(PEER).endswith(" c [10.1.2.3:50584]")
    assert ClusterRemoved(cluster="c").line(None).endswith(" c")


def test_lists_read_as_in_java() -> None:
    changed = MinBrokerIdChanged(broker_id=1, address="a:1", targets=("a:1", "b:2"))
    registered = TopicRouteRegistered(topic="T", broker_names=("b1",))
    updated = ConfigUpdated(client=PEER, changes=("enableTopicList: true -> false",))

    assert "notify [a:1, b:2], offline" in changed.text
    assert registered.text == "Register topic route:T, [b1]"
    assert updated.text.endswith(f"by {PEER}: [enableTopicList: true -> false]")


def test_a_request_that_failed_is_named() -> None:
    failed = RequestFailed(code=RequestCode.REGISTER_BROKER, client=PEER, error="no body")

    assert failed.line(PEER) == (
        f"process request exception, code: REGISTER_BROKER (103) client: {PEER}: no body"
    )
