"""Response templates read the same values as the reader of headers, or nothing."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.codes import SerializeType
from rocketwire.wire.command import RemotingCommand, decode, encode
from rocketwire.wire.response_template import ResponseTemplate, learn_template

FIELDS = {"queueId": "1", "key": "K0", "msg.Id": "7F", "100%": "%d", "offset": "12"}
STORED = RemotingCommand(code=0, opaque=70, flag=1, version=513, ext_fields=FIELDS)
INTS = st.integers(min_value=-(2**31), max_value=2**31 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.from_regex("[0-9]{2}", fullmatch=True)


def form_like(answer: RemotingCommand, frame: bytes | None = None) -> ResponseTemplate | None:
    return learn_template(frame or encode(answer), answer, "key", "msg.Id", "offset")


def template() -> ResponseTemplate:
    form = form_like(STORED)
    assert form is not None
    return form


def encode_answer(key: str, text: str, number: str, opaque: int = 70) -> bytes:
    """The response with these fields."""
    fields = {**FIELDS, "key": key, "msg.Id": text, "offset": number}
    return encode(replace(STORED, ext_fields=fields, opaque=opaque))


@given(TEXTS, TEXTS | NUMBERS, INTS | st.integers(min_value=10, max_value=99))
def test_a_form_reads_its_own_values(text: str, number: str, opaque: int) -> None:
    read = template().values(encode_answer("K1", text, number, opaque), b"K1", opaque)
    is_ascii = text.isalnum() and number.isdigit() and (text + number).isascii()
    is_equal = is_ascii and len(text) == len(number) == len(str(opaque)) == 2
    assert read == ((text.encode(), number.encode()) if is_equal else None)


@given(st.binary(max_size=4), st.integers(min_value=0, max_value=300))
def test_changed_responses_are_read_as_by_the_reader_of_headers(put: bytes, offset: int) -> None:
    frame = encode_answer("K1", "AB", "34")
    changed = frame[:offset] + put + frame[offset + len(put) :]
    read = template().values(changed, b"K1", 70)
    if read is not None:
        fields = {**FIELDS, "key": "K1", "msg.Id": read[0].decode(), "offset": read[1].decode()}
        assert decode(changed) == replace(STORED, ext_fields=fields)


@pytest.mark.parametrize(
    "response",
    [
        replace(STORED, code=1),
        replace(STORED, flag=0),
        replace(STORED, remark="but"),
        replace(STORED, body=b"body"),
        replace(STORED, opaque=71),
        replace(STORED, ext_fields={"queueId": "1"}),
        replace(STORED, ext_fields={**FIELDS, "queueId": "2"}),
        replace(STORED, ext_fields={**FIELDS, "key": "K1"}),
        replace(STORED, serialize_type=SerializeType.ROCKETMQ),
    ],
)
def test_other_answers_are_not_read(response: RemotingCommand) -> None:
    form = template()
    assert form.values(encode(STORED), b"K0", 70) == (b"7F", b"12")
    assert form.values(encode(response), b"K0", 70) is None


def test_a_response_without_known_fields_is_read_without_the_form() -> None:
    fields = {name: value for name, value in FIELDS.items() if name != "key"}
    answer = replace(STORED, ext_fields=fields)
    form = learn_template(encode(answer), answer, None, "msg.Id", "offset")
    assert form is not None

    for previous in (b"", b"K", b"any"):
        assert form.values(encode(replace(answer, opaque=71)), previous, 71) == (b"7F", b"12")
    assert form.values(encode(STORED), b"K0", 70) is None


def test_neither_parts_nor_more_than_one_are_read() -> None:
    frame, form = encode(STORED), template()
    for end in range(len(frame)):
        assert form.values(frame[:end], b"K0", 70) is None
    assert form.values(frame * 2, b"K0", 70) is None


def test_an_answer_with_a_body_is_read_with_that_body() -> None:
    answer = replace(STORED, body=b"body")
    form = form_like(answer)
    assert form is not None
    assert form.values(encode(answer), b"K0", 70) == (b"7F", b"12")
    assert form.values(encode(STORED), b"K0", 70) is None


@pytest.mark.parametrize(
    "fields",
    [
        None,
        {**FIELDS, "more": "x" * 4096},
        {**FIELDS, "key": ""},
        {**FIELDS, "msg.Id": "ä"},
        {**FIELDS, "offset": '"'},
        {"msg.Id": "7F", "key": "K0", "offset": "12"},
    ],
)
def test_some_answers_have_no_form(fields: dict[str, str] | None) -> None:
    assert form_like(replace(STORED, ext_fields=fields)) is None


def test_an_answer_has_no_form_if_its_neighbours_number_has_another_length() -> None:
    assert form_like(replace(STORED, opaque=-10)) is None
    assert form_like(replace(STORED, opaque=-11)) is not None


def test_an_answer_with_the_same_names_elsewhere_has_no_form() -> None:
    header = (
        b'{"code":0,"key":"K0","msg.Id":"7F","offset":"12","extFields":{"key": "K0","msg.Id": "7F",'
        b'"offset": "12"},"flag":1,"language":"JAVA","opaque":70,"version":513}'
    )
    frame = (len(header) + 4).to_bytes(4) + len(header).to_bytes(4) + header
    assert form_like(decode(frame), frame) is None
