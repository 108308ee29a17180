"""The binary header is read as by Java; values without a binary form are refused."""

from typing import Any

import pytest

from rocketwire.codes import LanguageCode
from rocketwire.errors import DecodeError, EncodeError
from rocketwire.wire.binary_header import decode_binary_header, encode_binary_header
from rocketwire.wire.header_fields import HeaderFields

FIELDS = HeaderFields(105, LanguageCode.JAVA, 479, 7, 0, None, {"topic": "TopicTest"})


PREFIX = "00690002010000000700000000"  # 105, JAVA, 513, opaque 7, flag 0

# hex of a header; what RemotingCommand.decode of release 5.5.0 read: remark, fields, surplus
READ_BY_JAVA: list[tuple[str, str | None, dict[str, str] | None, int]] = [
    (PREFIX + "00000000" "00000000", None, None, 0),
    (PREFIX + "00000000" "ffffffff", None, None, 0),
    (PREFIX + "00000000" "80000000", None, None, 0),
    (PREFIX + "00000001" "ff" "00000000", "\ufffd", None, 0),
    (PREFIX + "00000002" "eda0" "00000000", "\ufffd", None, 0),
    (PREFIX + "00000000" "00000008" "000161" "00000001" "62", None, {"a": "b"}, 0),
    # an empty value is null, whether it comes first or last
    (PREFIX + "00000000" "00000007" "000161" "00000000", None, {}, 0),
    (
        PREFIX + "00000000" "0000000f" "000161" "00000001" "62" "000161" "00000000",
        None, {}, 0,
    ),
    (
        PREFIX + "00000000" "0000000f" "000161" "00000000" "000161" "00000001" "62",
        None, {"a": "b"}, 0,
    ),
    # an empty key is null
    (PREFIX + "00000000" "00000007" "0000" "00000001" "62", None, {}, 0),
    # the last of equal keys wins
    (
        PREFIX + "00000000" "00000010" "000161" "00000001" "62" "000161" "00000001" "63",
        None, {"a": "c"}, 0,
    ),
    # a length that ends inside an entry: the entry is read to its end
    (PREFIX + "00000000" "00000001" "000161" "00000001" "62", None, {"a": "b"}, 0),
    (PREFIX + "00000000" "00000007" "000161" "00000001" "62", None, {"a": "b"}, 0),
    # bytes left over
    (PREFIX + "00000000" "00000000" "7879", None, None, 2),
    (PREFIX + "00000000" "00000008" "000161" "00000001" "62" "000163", None, {"a": "b"}, 3),
    # damaged text, in the key alone and in the value alone
    (PREFIX + "00000000" "00000008" "0001ff" "00000001" "62", None, {"\ufffd": "b"}, 0),
    (PREFIX + "00000000" "00000008" "000161" "00000001" "ff", None, {"a": "\ufffd"}, 0),
]  # fmt: skip

# hex of a header that this release refused, and the path of our error
REFUSED_BY_JAVA = [
    ("", "code"),
    (PREFIX[:-2], "flag"),
    (PREFIX + "000000", "remark"),
    (PREFIX + "ffffffff00000000", "remark"),
    (PREFIX + "7fffffff00000000", "remark"),
    (PREFIX + "0000000100000000", "ext_fields"),
    (PREFIX + "00000000000000", "ext_fields"),
    (PREFIX + "0000000000000001", "ext_fields"),
    (PREFIX + "000000007fffffff", "ext_fields"),
    (PREFIX + "000000000000000100", "ext_fields.key"),
    (PREFIX + "0000000000000008ffff610000000162", "ext_fields.key"),
    (PREFIX + "00000000000000087fff610000000162", "ext_fields.key"),
    (PREFIX + "0000000000000008000161ffffffff62", "ext_fields.value"),
    (PREFIX + "00000000000000080001610000000262", "ext_fields.value"),
    (PREFIX + "0000000000000003000161000000", "ext_fields.value"),
    # within the header, but longer than the map
    (PREFIX + "0000000000000001000261620000000162", "ext_fields.key"),
    (PREFIX + "0000000000000001000161000000026263", "ext_fields.value"),
]


def write_header(fields: HeaderFields, **changes: Any) -> bytes:
    return encode_binary_header(**{**fields._asdict(), **changes})


@pytest.mark.parametrize(("raw", "remark", "ext_fields", "surplus"), READ_BY_JAVA)
def test_headers_of_java_are_read_as_by_java(
    raw: str, remark: str | None, ext_fields: dict[str, str] | None, surplus: int
) -> None:
    header = bytes.fromhex(raw)
    fields, used = decode_binary_header(header)
    assert (fields.remark, fields.ext_fields, len(header) - used) == (remark, ext_fields, surplus)


@pytest.mark.parametrize(("raw", "path"), REFUSED_BY_JAVA)
def test_headers_that_java_refuses_are_refused_with_their_place(raw: str, path: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        decode_binary_header(bytes.fromhex(raw))
    assert refusal.value.path == path


@pytest.mark.parametrize("number", [14, 77, 128, 255])
def test_an_unlisted_language_survives(number: int) -> None:
    header = bytes.fromhex(f"0069{number:02x}" + PREFIX[6:] + "0000000000000000")
    fields, _ = decode_binary_header(header)
    assert fields.language == LanguageCode(number)
    assert write_header(fields) == header


@pytest.mark.parametrize("code", [-(2**15), -1006, 32767])
def test_codes_of_sixteen_bits_are_written(code: int) -> None:
    assert decode_binary_header(write_header(FIELDS, code=code))[0].code == code


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"code": 200050}, "code"),
        ({"code": -32769}, "code"),
        ({"version": 32768}, "version"),
        ({"opaque": 2**31}, "opaque"),
        ({"flag": -(2**31) - 1}, "flag"),
        ({"language": 256}, "language"),
        ({"language": None}, "language"),
        ({"language": "KLINGON"}, "language"),
    ],
)
def test_a_number_that_does_not_fit_is_refused(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(EncodeError) as refusal:
        write_header(FIELDS, **changes)
    assert refusal.value.path == path


def test_a_key_of_32767_bytes_is_the_longest() -> None:
    longest = {"k" * 32767: "v"}
    assert decode_binary_header(write_header(FIELDS, ext_fields=longest))[0].ext_fields == longest
    with pytest.raises(EncodeError) as refusal:
        write_header(FIELDS, ext_fields={"k" * 32768: "v"})
    assert (refusal.value.path or "").startswith("ext_fields")


def test_empty_text_and_empty_maps_are_written_as_none() -> None:
    expected = FIELDS._replace(remark=None, ext_fields=None)
    assert decode_binary_header(write_header(FIELDS, remark="", ext_fields={}))[0] == expected


def test_values_of_none_are_left_out() -> None:
    assert write_header(FIELDS, ext_fields={"x": None, "topic": "TopicTest"}) == write_header(
        FIELDS
    )


def test_a_lone_surrogate_is_written_as_java_writes_it() -> None:
    fields, _ = decode_binary_header(
        write_header(FIELDS, remark="a\ud800", ext_fields={"k": "\udc00"})
    )
    assert (fields.remark, fields.ext_fields) == ("a?", {"k": "?"})
