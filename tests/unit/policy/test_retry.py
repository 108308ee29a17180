"""Which failures are tried again."""

from typing import Any

import pytest

from rocketwire.codes import ResponseCode
from rocketwire.policy import retry
from rocketwire.policy.retry import CommunicationMode, Failure, SendStatus, Verdict
from tests.support.policy_vectors import decisions

SYNC, ASYNC, ONEWAY = CommunicationMode


def test_the_refusals_that_are_tried_again_are_java_s() -> None:
    (vector,) = decisions("constants", "retry_codes")
    assert sorted(retry.RETRY_RESPONSE_CODES) == vector["value"]


LISTED = retry.RETRY_RESPONSE_CODES | {ResponseCode.FLOW_CONTROL}


@pytest.mark.parametrize(
    ("failure", "options", "expected"),
    [
        *(
            (Failure.BROKER, {"code": code}, (code in {16, 17, 1500}, True, False))
            for code in (0, 3, 10, 13, 16, 17, 29, 1500, 215, 4711)
        ),
        (Failure.BROKER, {"code": 215, "retry_codes": LISTED}, (True, True, False)),
        (Failure.TRANSPORT, {}, (True, True, True)),
        (Failure.TRANSPORT, {"detecting": True}, (True, True, False)),
        (Failure.CLIENT, {}, (True, False, True)),
    ],
)
def test_a_failure_is_tried_again_if_a_caller_waits(
    failure: Failure, options: dict[str, Any], expected: tuple[bool, bool, bool]
) -> None:
    again, isolate, reachable = expected

    verdict = retry.judge(SYNC, failure, **options)
    assert verdict == Verdict(again, isolate=isolate, reachable=reachable)
    assert retry.judge(ASYNC, failure, **options).retry == (failure is Failure.TRANSPORT)
    assert not retry.judge(ONEWAY, failure, **options).retry


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
