"""Markers, fixtures and options take valid arguments only, and say in one line what is invalid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.process, pytest.mark.slow]

INVALID = {
    'rocketmq_namesrv(mod="thread")': "no setting 'mod'; did you mean 'mode'?",
    'rocketmq_namesrv("thread")': "keyword arguments only, not 'thread'; write mode='thread'",
    'rocketmq_namesrv(mode="jvm")': "(mode=...): expected 'process' or 'thread', got 'jvm'",
    "rocketmq_namesrv(mode=None)": "(mode=...): expected 'process' or 'thread', got None",
    'rocketmq_namesrv(listenPort="x")': "(listenPort=...): expected an integer, got 'x'",
    "rocketmq_namesrv(listenPort=True)": "(listenPort=...): expected an integer, got True",
    "rocketmq_namesrv(listenPort=1.5)": "(listenPort=...): expected an integer, got 1.5",
    "rocketmq_namesrv(listenport=1)": "no setting 'listenport'; did you mean 'listenPort'?",
    "rocketmq_namesrv(orderMessageEnable=1)": "expected True or False, got 1",
    'rocketmq_namesrv(orderMessageEnable="yes")': "expected True or False, got 'yes'",
    'rocketmq_namesrv(productEnvName="a\\nb=c")': "expected a text of one line",
    "rocketmq_namesrv(productEnvName=None)": "expected a text of one line, got None",
    'rocketmq_namesrv(**{"rocketwire.maxTopic": 1})': "did you mean 'rocketwire.maxTopics'?",
    'rocketmq_namesrv(**{"tls.server.certpath": "x"})': "no setting 'tls.server.certpath'",
    'rocketmq_broker(nam="b")': "no argument 'nam'; did you mean 'name'?",
    'rocketmq_broker("b")': "keyword arguments only, not 'b'",
    "rocketmq_broker(name=1)": "(name=...): expected a text that is not empty, got 1",
    'rocketmq_broker(cluster="")': "(cluster=...): expected a text that is not empty, got ''",
    'rocketmq_broker(topics="orders")': "(topics=...): expected a list of texts, got 'orders'",
    "rocketmq_broker(topics=[1])": "(topics=...): expected a list of texts, got [1]",
    'rocketmq_broker(broker_id="0")': "expected an integer of at least 0, got '0'",
    "rocketmq_broker(broker_id=-1)": "expected an integer of at least 0, got -1",
    'rocketmq_broker(register="no")': "(register=...): expected True or False, got 'no'",
}

VALID = """
import pytest
@pytest.mark.rocketmq_namesrv(mode="thread", orderMessageEnable="true", serverWorkerThreads="4")
@pytest.mark.rocketmq_namesrv(**{"rocketwire.maxTopics": 5, "tls.server.certPath": "x"})
@pytest.mark.rocketmq_broker(name="b", cluster="c", broker_id=0, topics=("a", "b"), register=True)
def test_it(rocketmq_namesrv, rocketmq_broker):
    assert rocketmq_broker.topics == ["a", "b"]
"""

USES = """
import pytest
from rocketwire import RemotingCommand, RequestCode

pytestmark = pytest.mark.rocketmq_broker(register=False)

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

def test_a_script(rocketmq_broker):
    for reply in ["text", 0, b""]:
        with pytest.raises(TypeError, match="a reply is a RemotingCommand"):
            rocketmq_broker.answer(RequestCode.SEND_MESSAGE_V2, reply)
    for code in ["310", None, True]:
        with pytest.raises(TypeError, match="a request code is an integer"):
            rocketmq_broker.answer(code, None)
        with pytest.raises(TypeError, match="a request code is an integer"):
            rocketmq_broker.wait_for(code)
    with pytest.raises(ValueError, match="count is at least 1"):
        rocketmq_broker.wait_for(310, 0)
    with pytest.raises(AttributeError):
        rocketmq_broker.topic = ["orders"]

def test_a_wait_that_is_over(rocketmq_broker):
    with pytest.raises(TimeoutError, match="^expected 2 SEND_MESSAGE_V2 requests within 0.01 s, got 0; no other requests came$"):
        rocketmq_broker.wait_for(310, 2, seconds=0.01)
    with pytest.raises(TimeoutError, match=r"^expected 1 \\(code 9999\\) request within"):
        rocketmq_broker.wait_for(9999, seconds=0.01)
"""


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
    pytestmark = pytest.mark.rocketmq_namesrv(mod="thread")
    @pytest.mark.rocketmq_broker(nam="b")
    class TestIt:
        @pytest.mark.rocketmq_namesrv(mode="thread")
        def test_it(self, rocketmq_namesrv, rocketmq_broker): pass
    def test_without_a_fixture(): pass
    """

    result = run_pytest(source)

    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*no setting 'mod'*"])


def test_valid_arguments_are_taken(run_pytest: Callable[..., pytest.RunResult]) -> None:
    run_pytest(VALID).assert_outcomes(passed=1)


def test_invalid_arguments_of_fixtures_are_refused_where_they_are_given(
    run_pytest: Callable[..., pytest.RunResult],
) -> None:
    result = run_pytest(USES)

    outcomes = result.parseoutcomes()
    assert set(outcomes) == {"passed"}, result.stdout.str()
