"""Bodies as plain values and back, on bodies that Java wrote."""

import json
from typing import Any

import pytest

from rocketwire.errors import EncodeError
from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.operations.registry import CLASSES, ArrayOf
from rocketwire_tools.codec.bodies import (
    body_from_plain,
    body_to_plain,
    from_plain,
    is_body,
    java_type_of,
    to_plain,
)
from tests.support.vectors import JavaVector, vectors

BODIES = {name: cls for name, cls in CLASSES.items() if is_body(cls)}


@pytest.mark.parametrize("vector", vectors("bodies/classes-5.5.0"), ids=str)
def test_bodies_of_java_are_shown_by_its_names_and_written_again(vector: JavaVector) -> None:
    name, text = vector["class"], vector.data.decode()
    shown = body_to_plain(BODIES[name], text.encode())

    encoded = encode_body(decode_body(CLASSES[name], text.encode()))
    assert body_from_plain(BODIES[name], shown) == encoded
    try:
        document = json.loads(text)
    except ValueError:  # it has a map whose keys are not texts
        return
    assert sorted(document) == sorted(key for key, value in shown.items() if value is not None)


@pytest.mark.parametrize("name", BODIES)
def test_every_class_is_its_plain_value_again(name: str) -> None:
    body = decode_body(BODIES[name], b"{}")

    assert from_plain(BODIES[name], to_plain(body)) == body


def test_maps_with_other_keys_than_texts_are_pairs() -> None:
    queue = '{"brokerName":"b","queueId":1,"topic":"T"}'
    text = b'{"offsetTable":{' + queue.encode() + b":7}}"

    shown = body_to_plain(BODIES["ResetOffsetBody"], text)

    assert shown == {"offsetTable": [[json.loads(queue), 7]]}
    assert body_from_plain(BODIES["ResetOffsetBody"], shown) == text


def test_numbers_are_keys_of_pairs_and_empty_maps_are_objects() -> None:
    full, empty = b'{"brokerAddrs":{0:"a",-1:"b"}}', b'{"brokerAddrs":{}}'

    shown = body_to_plain(BODIES["BrokerData"], full)["brokerAddrs"]
    assert shown == [[0, "a"], [-1, "b"]]
    assert body_to_plain(BODIES["BrokerData"], empty)["brokerAddrs"] == {}


def test_numbers_of_64_bits_are_exact_nan_is_null_and_bits_are_base64() -> None:
    value = body_to_plain(BODIES["BrokerStatsItem"], b'{"sum":-9223372036854775808,"tps":NaN}')

    assert (-(2**63), None) == (value["sum"], value["tps"])
    assert body_to_plain(BODIES["BatchAck"], b'{"b":"BQ=="}')["b"] == "BQ=="


def test_an_inner_class_has_its_outer_class_before_it() -> None:
    value = body_to_plain(BODIES["AclInfo.PolicyInfo"], b'{"policyType":"p"}')

    assert value == {"entries": None, "policyType": "p"}


def test_an_array_of_a_class_and_no_body_at_all() -> None:
    users = b'[{"username":"u"}]'

    shown = body_to_plain(ArrayOf(BODIES["UserInfo"]), users)
    assert ["u"] == [user["username"] for user in shown]
    assert body_from_plain(ArrayOf(BODIES["UserInfo"]), shown) == users
    assert body_to_plain(BODIES["KVTable"], b"null") is None


@pytest.mark.parametrize(
    "value",
    [
        1,
        None,
        {"brokerAdrs": {}},
        {"brokerAddrs": [1]},
        {"brokerAddrs": [[None, "a"]]},
        {"brokerAddrs": [[True, "a"]]},
        {"brokerAddrs": {"x": "a"}},
    ],
)
def test_a_value_that_does_not_fit_the_class_is_refused(value: Any) -> None:
    with pytest.raises(EncodeError):
        body_from_plain(BODIES["BrokerData"], value)


def test_types_are_taken_apart_as_they_are_spelt() -> None:
    shape = java_type_of("ConcurrentMap<String, Map<MessageQueue, List<Long>>>")

    assert ("ConcurrentMap", "String") == (shape.name, shape.arguments[0].name)
    assert ["MessageQueue", "List"] == [item.name for item in shape.arguments[1].arguments]
