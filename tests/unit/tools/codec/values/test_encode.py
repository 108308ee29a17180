"""``encode``: the way back from what ``decode`` prints, and from less."""

from typing import Any

import pytest

from rocketwire import RemotingCommand, decode, encode
from tests.support import golden
from tests.support.codec_in_process import only, refused, run


def build(source: dict[str, Any], *arguments: str) -> RemotingCommand:
    return decode(bytes.fromhex(only("encode", *arguments, line=source)["hex"]))


def describe_vectors() -> list[Any]:
    return run("decode", stdin=[vector.data.hex() for vector in golden.vectors()]).lines


def test_output_of_decode_gives_the_same_command() -> None:
    commands = [decode(vector.data) for vector in golden.vectors()]

    result = run("encode", stdin=describe_vectors())

    assert result.status == 0
    frames = [encode(command).hex() for command in commands]
    assert frames == [line["hex"] for line in result.lines]


def test_typed_headers_and_values_give_the_same_command_again() -> None:
    requests = [line for line in describe_vectors() if line["kind"] != "response"]
    for line in requests:
        if line["header"] is not None:
            line["typed"] = line.pop("ext_fields")
        if line["body"]["value"] is not None:
            del line["body"]["hex"]
    sent = [{key: line[key] for key in line if key != "typed"} for line in requests]

    result = run("decode", stdin=run("encode", stdin=sent).lines)

    assert result.status == 0
    for request, line in zip(requests, result.lines, strict=True):
        assert request["header"] == line["header"]
        assert request["body"]["value"] == line["body"]["value"]


def test_what_is_missing_has_its_default() -> None:
    assert RemotingCommand(code=105) == build({"code": 105})
    assert RemotingCommand(code=105) == build({"code_name": "GET_ROUTEINFO_BY_TOPIC"})
    assert RemotingCommand(code=17, flag=1) == build(
        {"code_name": "TOPIC_NOT_EXIST", "kind": "response"}
    )


def test_a_typed_header_becomes_ext_fields() -> None:
    source = {"code": 105, "header": {"topic": "T", "acceptStandardJsonOnly": True, "ns": None}}

    fields = {"topic": "T", "acceptStandardJsonOnly": "true"}
    assert build(source).ext_fields == fields
    assert build({**source, "ext_fields": None}).ext_fields == fields
    assert build({**source, "ext_fields": {"x": "y"}}).ext_fields == {"x": "y"}
    assert build({"code": 100, "header": {}}).ext_fields == {}


def test_the_body_of_an_answer_needs_its_request() -> None:
    source = {"code": 0, "kind": "response", "body": {"value": {"table": {"k": "v"}}}}

    assert build(source, "--request-code", "219").body == b'{"table":{"k":"v"}}'
    assert "--request-code" in refused("encode", line=source)["message"]


@pytest.mark.parametrize("compressed", [False, True])
def test_the_header_chooses_the_form_of_a_registration(compressed: bool) -> None:
    topics = {"topicConfigTable": {"T": {"topicName": "T"}}}
    source = {
        "code": 103,
        "header": {"brokerName": "b", "compressed": compressed},
        "body": {"value": {"topicConfigSerializeWrapper": topics}},
    }
    line = only("decode", line=only("encode", line=source))

    assert ("78" if compressed else "7b") == line["body"]["hex"][:2]
    assert "T" in line["body"]["value"]["topicConfigSerializeWrapper"]["topicConfigTable"]


@pytest.mark.parametrize(
    ("code", "value", "body"),
    [
        (320, [{"flag": 1, "properties": {"a": "b"}, "body": "6869"}], None),
        (39, {"topic": "T", "body": "6869", "queueId": 2}, None),
        (25, "a=1\nb=\n", b"a=1\nb=\n"),
        (1006, ["broker-a"], b'["broker-a"]'),
        (2002, "group", b"group"),
    ],
)
def test_values_of_other_bodies(code: int, value: Any, body: bytes | None) -> None:
    hexed = only("encode", line={"code": code, "body": {"value": value}})
    shown = only("decode", line=hexed)["body"]

    if body is not None:
        assert body.hex() == shown["hex"]
    if isinstance(value, dict) and code == 39:
        assert value.items() <= shown["value"].items()
    else:
        assert value == shown["value"]


@pytest.mark.parametrize(
    ("code", "value"),
    [(60, [1, -1, 2**63 - 1, 0, 0, 0, 5]), (2003, {"a": [1, None, "x"]}), (3005, [])],
)
def test_values_of_other_answers(code: int, value: Any) -> None:
    source = {"code": 0, "flag": 1, "body": {"value": value}}

    line = only("encode", "--request-code", str(code), line=source)

    shown = only("decode", "--request-code", str(code), line=line)["body"]["value"]
    assert ({"a": [1, None, "x"]} if code == 2003 else value) == shown


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"code": "105"},
        {"code": True},
        {"code": 2**31},
        {"code": 2**70},
        {"code": 1, "opque": 1},
        {"code": 1, "language": 1.5},
        {"code": 1, "kind": "answer"},
        {"code": 1, "serialize_type": 2},
        {"code": 40000, "serialize_type": "ROCKETMQ"},
        {"code": 1, "remark": 1},
        {"code": 1, "ext_fields": {"a": 1}},
        {"code": 1, "ext_fields": []},
        {"code": 1, "header": {"a": 1}},
        {"code": 105, "header": []},
        {"code": 105, "header": {"topik": "T"}},
        {"code": 105, "header": {"topic": 1}},
        {"code": 105, "header": {"acceptStandardJsonOnly": 1}},
        {"code": 103, "header": {"brokerId": 2**63}},
        {"code": 103, "header": {"brokerId": "x"}},
        {"code": 1, "body": 1},
        {"code": 1, "body": {"hex": "0"}},
        {"code": 1, "body": {"hex": 1}},
        {"code": 10, "body": {"value": "x"}},
        {"code": 34, "body": {"value": {"clientid": "x"}}},
        {"code": 34, "body": {"value": 1}},
        {"code": 105, "body": {"value": 1}},
        {"code": 1006, "body": {"value": {}}},
        {"code": 25, "body": {"value": {"a": 1}}},
        {"code": 1, "ext_fields": {"a": "\ud800"}, "serialize_type": "ROCKETMQ", "flag": "x"},
    ],
)
def test_an_object_that_is_no_frame_is_refused(source: dict[str, Any]) -> None:
    assert refused("encode", line=source)["error"] in ("EncodeError", "DecodeError")
