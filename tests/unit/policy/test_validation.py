"""Messages that a client refuses to send."""

from collections.abc import Callable
from typing import Any

import pytest

from rocketwire import errors
from rocketwire.errors import LocalProtocolError
from rocketwire.messages import message_const
from rocketwire.policy import validation
from rocketwire.policy.topic_attributes import attribute_changes, parse_attribute_changes
from tests.support.policy_vectors import decisions
from tests.support.vectors import JavaVector


def passes(check: Callable[..., None], *arguments: object) -> bool:
    try:
        check(*arguments)
    except errors.LocalProtocolError:
        return False
    return True


@pytest.mark.parametrize("vector", decisions("names", "validate"), ids=str)
def test_names_are_refused_as_in_java(vector: JavaVector) -> None:
    text, java = vector["text"], vector["value"]

    assert passes(validation.check_topic, text) == java["topic"]
    assert passes(validation.check_group, text) == java["group"]
    assert passes(validation.check_topic_for_broker, text) == java["broker"]
    assert passes(validation.check_message, text, b"x") == java["send"]
    assert passes(validation.check_user_property, text, "v") == java["property"]
    assert passes(validation.check_user_property, "n", text) == java["value"]


def test_the_reserved_properties_are_java_s() -> None:
    (vector,) = decisions("constants", "reserved")
    assert sorted(message_const.RESERVED) == vector["value"]


def test_the_names_that_stand_for_no_choice_are_no_groups() -> None:
    validation.check_producer_group("DEFAULT_CONSUMER")
    validation.check_consumer_group("DEFAULT_PRODUCER")
    with pytest.raises(errors.IllegalNameError):
        validation.check_producer_group("DEFAULT_PRODUCER")
    with pytest.raises(errors.IllegalNameError):
        validation.check_consumer_group("DEFAULT_CONSUMER")


@pytest.mark.parametrize("body", [None, b"", b"12345"])
def test_a_body_is_neither_empty_nor_too_large(body: bytes | None) -> None:
    with pytest.raises(errors.IllegalMessageError):
        validation.check_message("T", body, max_size=4)
    validation.check_message("T", b"1234", max_size=4)


def test_a_queue_to_dispatch_to_has_no_slash() -> None:
    validation.check_message("T", b"x", {"INNER_MULTI_DISPATCH": "%LMQ%a,%LMQ%b"})
    with pytest.raises(errors.IllegalMessageError):
        validation.check_message("T", b"x", {"INNER_MULTI_DISPATCH": "a/b"})


@pytest.mark.parametrize(("name", "value"), [("a\x01", "b"), ("a", "b\x02"), ("a", None)])
def test_a_property_that_would_become_another_is_refused(name: str, value: str | None) -> None:
    with pytest.raises(errors.IllegalMessageError):
        validation.check_user_property(name, value)


@pytest.mark.parametrize("check", [validation.check_topic, validation.check_group])
@pytest.mark.parametrize("name", [None, 5, b"orders"])
def test_a_name_that_is_no_text_is_a_typed_error(check: Any, name: object) -> None:
    with pytest.raises(errors.IllegalTypeError, match=r": expected a text \(str\), got "):
        check(name)


def test_a_name_without_a_sign_is_set_and_a_removed_one_has_no_value() -> None:
    changes = attribute_changes({"message.type": "FIFO", "+queue.type": "BatchCQ", "-a": "x"})
    assert changes == {"+message.type": "FIFO", "+queue.type": "BatchCQ", "-a": ""}
    assert attribute_changes(None) == {}


def test_attributes_of_operators_are_read() -> None:
    assert parse_attribute_changes("+a=b, +c=d=e,-f,") == {"+a": "b", "+c": "d=e", "-f": ""}
    assert parse_attribute_changes("") == {}


@pytest.mark.parametrize("text", ["a=b", "+a", "-a=b", "+=b", "-", "+a=b,+a=c"])
def test_an_ambiguous_change_is_refused(text: str) -> None:
    with pytest.raises(LocalProtocolError):
        parse_attribute_changes(text)
