"""Changes of attributes, as brokers and operators write them."""

import pytest

from rocketwire.errors import LocalProtocolError
from rocketwire.policy.topic_attributes import attribute_changes, parse_attribute_changes


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
