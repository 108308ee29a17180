"""``body`` and ``register-body``, on bodies that Java wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rocketwire.messages import decode_body, encode_body
from rocketwire.messages.operations.registry import CLASSES
from rocketwire_tools.codec.values.bodies import BODIES
from rocketwire_tools.codec.values.plain import from_plain, java_type_of, to_plain
from tests.support import golden
from tests.support.codec_in_process import only, refused, run
from tests.support.java.vectors import JavaVector, vectors


@pytest.mark.parametrize("vector", vectors("bodies/classes-5.5.0"), ids=str)
def test_bodies_of_java_are_shown_by_its_names_and_written_again(vector: JavaVector) -> None:
    name, text = vector["class"], vector.data.decode()
    line = only("body", name, line=text.encode().hex())
    again = bytes.fromhex(only("body", "--encode", name, line=line)["hex"])

    assert encode_body(decode_body(CLASSES[name], text.encode())) == again
    try:
        plain = json.loads(text)
    except ValueError:  # a map whose keys are no texts
        return
    shown = {key: value for key, value in line["value"].items() if value is not None}
    assert sorted(plain) == sorted(shown)


@pytest.mark.parametrize("name", BODIES)
def test_every_class_is_its_plain_value_again(name: str) -> None:
    body = decode_body(BODIES[name], b"{}")

    assert from_plain(BODIES[name], to_plain(body)) == body


def test_maps_with_other_keys_than_texts_are_pairs() -> None:
    queue = '{"brokerName":"b","queueId":1,"topic":"T"}'
    text = '{"offsetTable":{' + queue + ":7}}"

    line = only("body", "ResetOffsetBody", line=text.encode().hex())

    assert line["value"] == {"offsetTable": [[json.loads(queue), 7]]}
    assert text.encode().hex() == only("body", "--encode", "ResetOffsetBody", line=line)["hex"]


def test_numbers_are_keys_of_pairs_and_empty_maps_are_objects() -> None:
    full, empty = b'{"brokerAddrs":{0:"a",-1:"b"}}', b'{"brokerAddrs":{}}'

    assert only("body", "BrokerData", line=full.hex())["value"]["brokerAddrs"] == [
        [0, "a"],
        [-1, "b"],
    ]
    assert only("body", "BrokerData", line=empty.hex())["value"]["brokerAddrs"] == {}


def test_numbers_of_64_bits_are_exact_nan_is_null_and_bits_are_base64() -> None:
    stats = b'{"sum":-9223372036854775808,"tps":NaN}'
    ack = b'{"b":"BQ=="}'

    value = only("body", "BrokerStatsItem", line=stats.hex())["value"]
    assert (-(2**63), None) == (value["sum"], value["tps"])
    assert only("body", "BatchAck", line=ack.hex())["value"]["b"] == "BQ=="


def test_an_inner_class_has_its_outer_class_before_it() -> None:
    value = only("body", "AclInfo.PolicyInfo", line=b'{"policyType":"p"}'.hex())["value"]

    assert value == {"entries": None, "policyType": "p"}


def test_an_array_of_a_class_and_no_body_at_all() -> None:
    users = b'[{"username":"u"}]'

    shown = only("body", "--array", "UserInfo", line=users.hex())
    assert ["u"] == [user["username"] for user in shown["value"]]
    assert users.hex() == only("body", "--array", "--encode", "UserInfo", line=shown)["hex"]
    assert only("body", "KVTable", line=b"null".hex()) == {"value": None}


def test_a_class_that_nobody_has_is_an_error_of_the_command_line() -> None:
    for name in ("TopicRouteDat", "GetKVConfigRequestHeader", "x"):
        done = run("body", name)
        assert (2, []) == (done.status, done.lines)
        assert name in done.complaint


@pytest.mark.parametrize(
    "source",
    [
        "{",
        "[]",
        {},
        {"value": 1},
        {"value": None},
        {"value": {"brokerAdrs": {}}},
        {"value": {"brokerAddrs": [1]}},
        {"value": {"brokerAddrs": [[None, "a"]]}},
        {"value": {"brokerAddrs": [[True, "a"]]}},
        {"value": {"brokerAddrs": {"x": "a"}}},
    ],
)
def test_a_value_that_does_not_fit_the_class_is_refused(source: Any) -> None:
    assert refused("body", "--encode", "BrokerData", line=source)["error"].endswith("codeError")


def test_types_are_taken_apart_as_they_are_spelt() -> None:
    shape = java_type_of("ConcurrentMap<String, Map<MessageQueue, List<Long>>>")

    assert ("ConcurrentMap", "String") == (shape.name, shape.arguments[0].name)
    assert ["MessageQueue", "List"] == [one.name for one in shape.arguments[1].arguments]


# ---------------------------------------------------------------------------- registrations


def registrations() -> list[golden.Vector]:
    return [
        vector
        for vector in golden.vectors()
        if vector.facts["code"] == 103
        and vector.facts["body_length"]
        and not int(str(vector.facts["flag"])) & 1
    ]


@pytest.mark.parametrize("vector", registrations(), ids=lambda vector: vector.id)
def test_a_registration_is_read_alone_as_in_its_frame(vector: golden.Vector) -> None:
    frame = only("decode", line=vector.data.hex())
    arguments = ["--version", str(frame["version"])]
    arguments += ["--compressed"] if frame["header"]["compressed"] else []

    alone = only("register-body", *arguments, line=frame["body"]["hex"])

    assert frame["body"]["value"] == alone["value"]
    again = only("register-body", "--encode", *arguments, line=alone)
    assert alone == only("register-body", *arguments, line=again)


def test_the_version_of_a_registration_may_be_named() -> None:
    source: dict[str, Any] = {"value": {"topicConfigSerializeWrapper": {}}}

    for version in ("401", "V4_9_4"):
        line = only("register-body", "--encode", "--compressed", "--version", version, line=source)
        assert "error" in refused("register-body", "--compressed", line=line)
        assert "value" in only("register-body", "--compressed", "--version", version, line=line)
