"""Look-ups: operations by code, classes by name."""

import pytest

from rocketwire.codes import RequestCode
from rocketwire.messages import registration
from rocketwire.messages.auth import PolicyInfo, UserInfo
from rocketwire.messages.kvconfig import KVTable
from rocketwire.messages.operations.registry import CLASSES, OPERATIONS, ArrayOf, Operation, Raw
from rocketwire.messages.route import TopicRouteData


def test_an_operation_names_its_four_parts() -> None:
    assert OPERATIONS[103] == Operation(
        code=RequestCode.REGISTER_BROKER,
        request_header=registration.RegisterBrokerRequestHeader,
        request_body=registration.RegisterBrokerBody,
        response_header=registration.RegisterBrokerResponseHeader,
        response_body=KVTable,
    )


def test_other_bodies_than_json_objects_have_a_kind() -> None:
    assert OPERATIONS[RequestCode.PULL_MESSAGE].response_body is Raw.STORED_MESSAGES
    assert OPERATIONS[RequestCode.AUTH_LIST_USER].response_body == ArrayOf(UserInfo)


@pytest.mark.parametrize(
    ("name", "expected"), [("TopicRouteData", TopicRouteData), ("AclInfo.PolicyInfo", PolicyInfo)]
)
def test_a_class_is_found_by_its_name_in_java(name: str, expected: type[object]) -> None:
    assert CLASSES[name] is expected


def test_a_code_that_java_does_not_handle_has_no_operation() -> None:
    assert RequestCode.QUERY_BROKER_OFFSET not in OPERATIONS
