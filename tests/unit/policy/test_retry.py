"""Which failures are tried again."""

import pytest

from rocketwire.codes import ResponseCode
from rocketwire.policy import retry
from rocketwire.policy.retry import CommunicationMode, Failure, SendStatus, Verdict
from tests.support.policy_vectors import decisions

SYNC, ASYNC, ONEWAY = CommunicationMode


def test_the_refusals_that_are_tried_again_are_java_s() -> None:
    (vector,) = decisions("constants", "retry_codes")
    assert sorted(retry.RETRY_RESPONSE_CODES) == vector["value"]


@pytest.mark.parametrize("code", [0, 3, 10, 13, 16, 17, 29, 1500, 215, 4711])
def test_refusals_are_retried_by_code_if_a_caller_waits(code: int) -> None:
    listed = code in {16, 17, 1500}
    assert retry.judge(SYNC, Failure.BROKER, code) == Verdict(listed, isolate=True, reachable=False)
    assert not retry.judge(ASYNC, Failure.BROKER, code).retry
    assert not retry.judge(ONEWAY, Failure.BROKER, code).retry


def test_an_application_may_add_codes() -> None:
    codes = retry.RETRY_RESPONSE_CODES | {ResponseCode.FLOW_CONTROL}
    assert retry.judge(SYNC, Failure.BROKER, 215, retry_codes=codes).retry


def test_a_lost_connection_is_retried_if_a_caller_waits() -> None:
    assert retry.judge(SYNC, Failure.TRANSPORT) == Verdict(True, isolate=True, reachable=True)
    assert retry.judge(ASYNC, Failure.TRANSPORT).retry
    assert not retry.judge(ONEWAY, Failure.TRANSPORT).retry


def test_a_lost_broker_is_unreachable_only_with_a_detector() -> None:
    assert not retry.judge(SYNC, Failure.TRANSPORT, detecting=True).reachable


def test_a_local_failure_does_not_count_against_the_broker() -> None:
    assert retry.judge(SYNC, Failure.CLIENT) == Verdict(True, isolate=False, reachable=True)
    assert not retry.judge(ASYNC, Failure.CLIENT).retry


def test_there_are_three_attempts_if_a_caller_waits() -> None:
    assert retry.count_attempts(SYNC) == retry.count_attempts(ASYNC) == 3
    assert (
        retry.count_attempts(SYNC, 0)
        == retry.count_attempts(SYNC, -1)
        == retry.count_attempts(ONEWAY)
        == 1
    )


def test_four_codes_are_results() -> None:
    assert {code: status.value for code, status in retry.SEND_STATUSES.items()} == {
        0: "SEND_OK",
        10: "FLUSH_DISK_TIMEOUT",
        12: "FLUSH_SLAVE_TIMEOUT",
        11: "SLAVE_NOT_AVAILABLE",
    }


@pytest.mark.parametrize("status", SendStatus)
def test_a_stored_message_is_sent_again_only_on_request_and_if_not_safe(status: SendStatus) -> None:
    unsafe = status is not SendStatus.SEND_OK
    assert retry.tries_again_when_stored(status, retry_another_broker=True) == unsafe
    assert not retry.tries_again_when_stored(status, retry_another_broker=False)
