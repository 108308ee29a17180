"""``decode`` against what Java's classes read from recorded packets."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, cast

import pytest

from rocketwire import CommandFlag, RemotingCommand, SerializeType, encode, errors
from rocketwire_tools.codec.expect import is_array, is_object
from tests.support import golden
from tests.support.codec_in_process import only, refused, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KEYS = [
    "code",
    "code_name",
    "kind",
    "language",
    "version",
    "version_name",
    "opaque",
    "flag",
    "remark",
    "serialize_type",
    "ext_fields",
    "header",
    "body",
]


def frame(**members: Any) -> str:
    return encode(RemotingCommand(**members)).hex()


def normalize(value: Any) -> Any:
    """A body with every map key as text and no null, as the expectations have it.

    Data versions, where Java fills in its clock, are left out.
    """
    if is_object(value):
        kept = {key: item for key, item in value.items() if not key.endswith("ataVersion")}
        return {key: normalize(item) for key, item in kept.items() if item is not None}
    if is_array(value):
        if value and all(is_array(one) and len(one) == 2 for one in value):
            return {str(key): normalize(item) for key, item in value}
        return [normalize(item) for item in value]
    return value


@pytest.fixture(scope="module")
def describe() -> Mapping[str, Any]:
    vectors = golden.vectors()
    done = run("decode", stdin=[vector.data.hex() for vector in vectors])
    assert done.status == 0
    return {vector.id: line for vector, line in zip(vectors, done.lines, strict=True)}


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

    assert (None, None, "COBOL", "request") == (
        line["code_name"],
        line["version_name"],
        line["language"],
        line["kind"],
    )
    assert line["header"] is None
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
        ("1756872259", "ok"),
        ("1756872260", "bad"),
        ("-1", "bad"),
        ("0", "absent"),
        ("3904355907", "absent"),
        ("x", "absent"),
        (None, "absent"),
    ],
)
def test_checksum_of_a_registration(text: str | None, crc: str) -> None:
    ext_fields = {} if text is None else {"bodyCrc32": text}

    line = only("decode", "--no-body", line=frame(code=103, ext_fields=ext_fields, body=b"a"))

    assert {"length": 1, "crc": crc} == line["body"]


def test_no_other_frame_has_a_checksum() -> None:
    line = only(
        "decode", "--no-body", line=frame(code=104, ext_fields={"bodyCrc32": "1"}, body=b"a")
    )

    assert line["body"]["crc"] == "absent"


def test_a_body_that_is_something_else_leaves_the_frame_good() -> None:
    done = run("decode", stdin=[frame(code=34, body=b"{")])

    assert done.status == 0
    assert done.lines[0]["body"]["value"] is None
    assert ["body"] == list(done.lines[0]["problems"])
    assert done.lines[0]["problems"]["body"]["error"] == "DecodeError"


def test_fields_that_java_insists_on_leave_the_frame_good() -> None:
    line = only("decode", line=frame(code=310, ext_fields={"a": "g", "d": "many"}))

    assert line["header"] is None
    assert ["header"] == list(line["problems"])


def scatter(text: str) -> str:
    return " ".join(text)


def prefix(text: str) -> str:
    return f" 0x{text}\t"


@pytest.mark.parametrize("spell", [str.upper, prefix, scatter])
def test_hex_is_read_however_it_is_spelt(spell: Callable[[str], str]) -> None:
    plain = frame(code=105)

    assert only("decode", line=plain) == only("decode", line=spell(plain))
    assert only("decode", line=plain) == only("decode", line={"hex": spell(plain)})
    encoded = base64.b64encode(bytes.fromhex(plain)).decode()
    assert only("decode", line=plain) == only("decode", "--base64", line=encoded)


@pytest.mark.parametrize("vector", golden.bad_vectors(), ids=lambda vector: vector.id)
def test_bad_packet_is_refused_alone(vector: golden.BadVector) -> None:
    good = frame(code=105)

    done = run("decode", stdin=[good, vector.data.hex(), "", good])

    assert done.status == 1
    (found,) = (line["error"] for line in done.lines if "error" in line)
    assert issubclass(getattr(errors, found), vector.error)
    assert done.lines[0] == done.lines[2]


@pytest.mark.parametrize(
    ("line", "offset"), [("zz", 0), ("00 0z", 1), ("0x00 00 -", 2), ("000", 1)]
)
def test_what_is_no_hex_is_refused_with_the_byte_where_it_stands(line: str, offset: int) -> None:
    refusal = refused("decode", line=line)

    assert (refusal["error"], refusal["offset"]) == ("DecodeError", offset)


@pytest.mark.parametrize("line", ["0", "zz", "{}", "{", '{"hex":1}', "0x", "\ud800"])
def test_a_line_that_is_no_hex_is_refused(line: str) -> None:
    assert refused("decode", line=line)["error"] in ("DecodeError", "TruncatedError")


# ---------------------------------------------------------------------------- raw streams


def test_a_raw_stream_gives_what_its_frames_give_one_by_one() -> None:
    data = [vector.data for vector in golden.vectors()]

    whole = run("decode", "--binary", stdin=b"".join(data))

    assert (0, len(data)) == (whole.status, len(whole.lines))
    assert run("decode", stdin=[one.hex() for one in data]).lines == whole.lines


def test_a_raw_stream_ends_where_framing_is_lost_and_says_where() -> None:
    good = bytes.fromhex(frame(code=105))

    done = run("decode", "--binary", stdin=good + good + b"\0\0\0\1" + good)

    assert (1, 3) == (done.status, len(done.lines))
    assert ("DecodeError", 2 * len(good)) == (done.lines[2]["error"], done.lines[2]["offset"])


def test_a_raw_stream_goes_on_after_a_header_that_cannot_be_read() -> None:
    good = bytes.fromhex(frame(code=105))

    done = run("decode", "--binary", stdin=good + b"\0\0\0\5\0\0\0\1x" + good)

    assert [False, True, False] == ["error" in line for line in done.lines]


def test_a_raw_stream_that_ends_inside_a_frame_says_so() -> None:
    good = bytes.fromhex(frame(code=105))

    done = run("decode", "--binary", stdin=good + good[:-1])

    assert done.status == 1
    assert "TruncatedError" == done.lines[1]["error"]
    assert 2 * len(good) - 1 == done.lines[1]["offset"]
