"""Markers, fixtures and options refuse invalid arguments with one line."""

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.process

INVALID = {
    "rocketmq(broker=2)": "the broker has no setting 'broker'; did you mean brokers?",
    "rocketmq(2)": "keyword arguments only, not 2",
    "rocketmq(brokers=0)": "(brokers=...): expected an integer of at least 1, got 0",
    "rocketmq(brokers=True)": "(brokers=...): expected an integer of at least 1, got True",
    'rocketmq(topics="orders")': "(topics=...): expected a list of texts, got 'orders'",
    "rocketmq(topics=[1])": "(topics=...): expected a list of texts, got [1]",
    "rocketmq(messagedelaylevel=1)": "did you mean messageDelayLevel?",
    'rocketmq(enableLmq="perhaps")': "(enableLmq=...): ",
}

VALID = """
import pytest
@pytest.mark.rocketmq(brokers=2)
@pytest.mark.rocketmq(brokers=1, topics=("a", "b"), enableLmq=True)
def test_it(rocketmq):
    assert [broker.name for broker in rocketmq.brokers] == ["broker-a"]
"""

USES = """
import pytest
from rocketwire import RequestCode

@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.1:x", ":1", "a:0", "a:65536", 9876, None])
def test_an_address(fault_proxy, address):
    with pytest.raises(ValueError, match="not host:port"):
        fault_proxy(address)

@pytest.mark.parametrize("name, value, error", [
    ("delay", -1, ValueError), ("delay", "1", TypeError), ("delay", float("nan"), ValueError),
    ("slice_size", 0, ValueError), ("slice_size", 1.5, TypeError), ("slice_sise", 7, AttributeError),
])
def test_a_fault(fault_proxy, name, value, error):
    proxy = fault_proxy("127.0.0.1:9876")
    with pytest.raises(error, match=name):
        setattr(proxy.to_client, name, value)

def test_faults_that_are_called(fault_proxy):
    proxy = fault_proxy("127.0.0.1:9876")
    for call, argument, error in [
        (proxy.to_server.corrupt, -1, ValueError), (proxy.to_server.corrupt, "1", TypeError),
        (proxy.to_server.reset_after, 0, ValueError), (proxy.to_server.reset_after, True, TypeError),
    ]:
        with pytest.raises(error):
            call(argument)
    with pytest.raises(ValueError, match="mask is 1 to 255, not 256"):
        proxy.to_server.corrupt(0, 256)
    with pytest.raises(AttributeError):
        proxy.refuse = True

def test_a_reply(rocketmq):
    for reply in ["text", 0, b""]:
        with pytest.raises(TypeError, match="a reply is a RemotingCommand"):
            rocketmq.broker.on(RequestCode.SEND_MESSAGE_V2, reply)
    with pytest.raises(ValueError, match="at least one reply"):
        rocketmq.broker.on(RequestCode.SEND_MESSAGE_V2)
"""

FAILS = """
def test_a_text(rocketmq): rocketmq.produce("orders", "text")
def test_a_name(rocketmq): rocketmq.produce("a.b", b"x")
def test_a_name_of_a_topic(rocketmq): rocketmq.topic(name="a b")
def test_a_code(rocketmq): rocketmq.broker.refuse_next("BUSY")
def test_a_wait(rocketmq):
    rocketmq.produce("t-1", b"x")
    rocketmq.wait_for_messages("orders", 2, timeout=0)
"""
REASONS = [
    "TypeError: a body is bytes, not 'text'",
    "ValueError: The specified topic: a.b, contains illegal characters",
    "ValueError: The specified topic: a b, contains illegal characters",
    "TypeError: code is a ResponseCode or another integer, not 'BUSY'",
    "TimeoutError: orders has 0 messages, not 2 after 0 s; t-1 has 1",
]


def test_each_invalid_argument_of_a_marker_is_named_in_one_line(
    run_pytest: Callable[..., pytest.RunResult],
) -> None:
    marks = "\n".join(
        f"@pytest.mark.{mark}\ndef test_{number}(): pass" for number, mark in enumerate(INVALID)
    )

    result = run_pytest(f"import pytest\n{marks}", "--tb=short")

    result.assert_outcomes(errors=len(INVALID))
    printed = result.stdout.str()
    assert [text for text in INVALID.values() if text not in printed] == []
    assert "Traceback" not in printed
    assert "marking.py" not in printed


def test_a_marker_of_a_class_or_a_module_is_checked_too(
    run_pytest: Callable[..., pytest.RunResult],
) -> None:
    source = """
    import pytest
    pytestmark = pytest.mark.rocketmq(broker=2)
    @pytest.mark.rocketmq(topic="b")
    class TestIt:
        @pytest.mark.rocketmq(brokers=1)
        def test_it(self, rocketmq): pass
    def test_without_a_fixture(): pass
    """

    result = run_pytest(source)

    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*no setting 'broker'*"])


def test_valid_arguments_are_taken(run_pytest: Callable[..., pytest.RunResult]) -> None:
    run_pytest(VALID).assert_outcomes(passed=1)


def test_invalid_arguments_of_fixtures_are_refused_where_they_are_given(
    run_pytest: Callable[..., pytest.RunResult],
) -> None:
    result = run_pytest(USES)

    outcomes = result.parseoutcomes()
    assert set(outcomes) == {"passed"}, result.stdout.str()


def test_a_failure_of_the_cluster_shows_the_test_and_one_line(
    run_pytest: Callable[..., pytest.RunResult],
) -> None:
    result = run_pytest(FAILS)

    result.assert_outcomes(failed=len(REASONS))
    printed = result.stdout.str()
    assert [reason for reason in REASONS if reason not in printed] == []
    assert "cluster.py" not in printed
