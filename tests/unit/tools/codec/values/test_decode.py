"""``decode`` against what Java's classes read from recorded packets."""

import base64
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from rocketwire import CommandFlag, RemotingCommand, SerializeType, encode, errors
from rocketwire_tools.codec.jsonl import is_array, is_object
from tests.support import golden
from tests.support.codec_in_process import only, refused, run

KEYS = [
    *("code", "code_name", "kind", "language", "version", "version_name", "opaque", "flag"),
    *("remark", "serialize_type", "ext_fields", "header", "body"),
]


def frame(**members: Any) -> str:
    return encode(RemotingCommand(**members)).hex()


def normalize(value: Any) -> Any:
    """Return a body whose map keys are texts, without nulls and without data versions.

    Java writes the time into data versions.
    """
    if is_object(value):
        members = {key: item for key, item in value.items() if not key.endswith("ataVersion")}
        return {key: normalize(item) for key, item in members.items() if item is not None}
    if is_array(value):
        if value and all(is_array(item) and len(item) == 2 for item in value):
            return {str(key): normalize(item) for key, item in value}
        return [normalize(item) for item in value]
    return value


@pytest.fixture(scope="module")
def describe() -> Mapping[str, Any]:
    vectors = golden.vectors()
    result = run("decode", stdin=[vector.data.hex() for vector in vectors])
    assert result.status == 0
    return {vector.id: line for vector, line in zip(vectors, result.lines, strict=True)}


@pytest.mark.parametrize("vector", golden.vectors(), ids=lambda vector: vector.id)
def test_recorded_packet_is_described(describe: Mapping[str, Any], vector: golden.Vector) -> None:
    line = describe[vector.id]

    assert KEYS == list(line)
    assert ["length", "crc", "hex", "value"] == list(line["body"])
    for name in ("code", "language", "version", "opaque", "flag", "remark", "ext_fields"):
        assert vector.facts[name] == line[name]
    assert vector.facts["serialize_type"] == line["serialize_type"]
    assert vector.facts["body_length"] == line["body"]["length"] == len(line["body"]["hex"]) // 2
    if "body_value" in vector.facts and line["kind"] != "response":
        assert normalize(vector.facts["body_value"]) == normalize(line["body"]["value"])


def test_an_answer_is_understood_once_its_request_is_named() -> None:
    answers = [
        vector
        for vector in golden.vectors()
        if vector.facts.get("body_class") == "TopicRouteData" and vector.facts["code"] == 0
    ]
    assert answers
    for vector in answers:
        for name in ("105", "GET_ROUTEINFO_BY_TOPIC"):
            line = only("decode", "--request-code", name, line=vector.data.hex())
            expected = cast("dict[str, Any]", normalize(vector.facts["body_value"]))
            assert expected == normalize(line["body"]["value"])


def test_names_are_null_and_numbers_stay_where_nothing_is_listed() -> None:
    line = only("decode", line=frame(code=31999, version=9999, language="COBOL", flag=4))

    assert (line["code_name"], line["version_name"], line["header"]) == (None, None, None)
    assert (line["language"], line["kind"]) == ("COBOL", "request")
    unlisted = frame(code=105, language=77, serialize_type=SerializeType.ROCKETMQ)
    assert only("decode", line=unlisted)["language"] == 77


@pytest.mark.parametrize(
    ("flag", "kind"),
    [(0, "request"), (1, "response"), (2, "oneway"), (3, "response"), (6, "oneway")],
)
def test_kind_follows_from_the_flag(flag: int, kind: str) -> None:
    line = only("decode", line=frame(code=1, flag=flag))

    assert (kind, flag) == (line["kind"], line["flag"])
    assert ("SYSTEM_ERROR" if flag & CommandFlag.RESPONSE else None) == line["code_name"]


@pytest.mark.parametrize(
    ("text", "crc"),
    [
        *(("1756872259", "ok"), ("1756872260", "bad"), ("-1", "bad")),
        *((text, "absent") for text in ("0", "3904355907", "x", None)),
    ],
)
def test_checksum_of_a_registration(text: str | None, crc: str) -> None:
    ext_fields = {} if text is None else {"bodyCrc32": text}

    line = only("decode", "--no-body", line=frame(code=103, ext_fields=ext_fields, body=b"a"))

    assert {"length": 1, "crc": crc} == line["body"]


def test_no_other_frame_has_a_checksum() -> None:
    text = frame(code=104, ext_fields={"bodyCrc32": "1"}, body=b"a")

    assert only("decode", "--no-body", line=text)["body"]["crc"] == "absent"


def test_an_invalid_body_leaves_the_frame_good() -> None:
    line = only("decode", line=frame(code=34, body=b"{"))

    assert line["body"]["value"] is None
    assert ["body"] == list(line["problems"])
    assert line["problems"]["body"]["error"] == "DecodeError"


def test_fields_that_java_insists_on_leave_the_frame_good() -> None:
    line = only("decode", line=frame(code=310, ext_fields={"a": "g", "d": "many"}))

    assert line["header"] is None
    assert ["header"] == list(line["problems"])


@pytest.mark.parametrize("spell", [str.upper, " 0x{}\t".format, " ".join])
def test_hex_may_have_another_form(spell: Callable[[str], str]) -> None:
    text = frame(code=105)

    assert only("decode", line=text) == only("decode", line=spell(text))
    assert only("decode", line=text) == only("decode", line={"hex": spell(text)})


def test_a_frame_may_be_base64() -> None:
    text = frame(code=105)
    encoded = base64.b64encode(bytes.fromhex(text)).decode()

    assert only("decode", line=text) == only("decode", "--base64", line=encoded)


@pytest.mark.parametrize("vector", golden.bad_vectors(), ids=lambda vector: vector.id)
def test_bad_packet_is_refused_alone(vector: golden.BadVector) -> None:
    good = frame(code=105)

    result = run("decode", stdin=[good, vector.data.hex(), "", good])

    assert result.status == 1
    first, refusal, last = result.lines
    assert issubclass(getattr(errors, refusal["error"]), vector.error)
    assert first == last


@pytest.mark.parametrize(
    ("line", "offset"), [("zz", 0), ("00 0z", 1), ("0x00 00 -", 2), ("000", 1)]
)
def test_what_is_no_hex_is_refused_with_the_byte_where_it_stands(line: str, offset: int) -> None:
    refusal = refused("decode", line=line)

    assert (refusal["error"], refusal["offset"]) == ("DecodeError", offset)


@pytest.mark.parametrize("line", ["0", "zz", "{}", "{", '{"hex":1}', "0x", "\ud800"])
def test_a_line_that_is_no_hex_is_refused(line: str) -> None:
    assert refused("decode", line=line)["error"] in ("DecodeError", "TruncatedError")


GOOD = encode(RemotingCommand(code=105))


def test_a_raw_stream_is_decoded_like_its_frames() -> None:
    data = [vector.data for vector in golden.vectors()]

    result = run("decode", "--binary", stdin=b"".join(data))

    assert (0, len(data)) == (result.status, len(result.lines))
    assert run("decode", stdin=[packet.hex() for packet in data]).lines == result.lines


@pytest.mark.parametrize(
    ("data", "error", "offset"),
    [
        (GOOD + b"\0\0\0\1" + GOOD, "DecodeError", len(GOOD)),
        (GOOD + GOOD[:-1], "TruncatedError", 2 * len(GOOD) - 1),
    ],
    ids=["lost framing", "half a frame"],
)
def test_a_raw_stream_ends_with_an_error(data: bytes, error: str, offset: int) -> None:
    result = run("decode", "--binary", stdin=data)

    _, last = result.lines
    assert (result.status, last["error"], last["offset"]) == (1, error, offset)


def test_a_raw_stream_continues_after_an_invalid_header() -> None:
    result = run("decode", "--binary", stdin=GOOD + b"\0\0\0\5\0\0\0\1x" + GOOD)

    assert [False, True, False] == ["error" in line for line in result.lines]
