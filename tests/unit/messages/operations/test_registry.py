"""Look-ups: operations by code, classes by name."""

from rocketwire.codes import RequestCode
from rocketwire.messages.operations.registry import OPERATIONS


def test_a_code_that_java_does_not_handle_has_no_operation() -> None:
    assert RequestCode.QUERY_BROKER_OFFSET not in OPERATIONS
