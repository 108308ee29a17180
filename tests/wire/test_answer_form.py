"""Answers read by what they have in common: always what the reader of headers reads, or nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.codes import SerializeType
from rocketwire.wire.answer_form import answer_form_of
from rocketwire.wire.command import RemotingCommand, encode

STORED = RemotingCommand(
    code=0, opaque=7, flag=1, version=513, ext_fields={"queueId": "1", "msg.Id": "7F", "empty": ""}
)
NAMES = ("empty", "queueId", "msg.Id")
INTS = st.integers(min_value=-(2**31), max_value=2**31 - 1)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=3, max_size=3), INTS)
def test_what_a_form_reads_was_written(values: list[str], opaque: int) -> None:
    form = answer_form_of(encode(STORED), STORED, NAMES)
    assert form is not None
    told: dict[str, str] = dict(zip(NAMES, values, strict=True))
    fields = {name: told[name] for name in STORED.ext_fields or ()}
    frame = encode(replace(STORED, ext_fields=fields, opaque=opaque))

    read = form.values(frame, opaque)

    plain = all(" " <= c <= "~" and c not in '"\\' for value in values for c in value)
    assert read == ((*values, str(opaque)) if plain else None)
    assert form.values(frame, opaque ^ 1) is None


@pytest.mark.parametrize(
    "other",
    [
        replace(STORED, code=1),
        replace(STORED, flag=0),
        replace(STORED, remark="but"),
        replace(STORED, body=b"body"),
        replace(STORED, ext_fields={"queueId": "1"}),
        replace(STORED, ext_fields={"queueId": "1", "msg-Id": "7F", "empty": ""}),
        replace(STORED, serialize_type=SerializeType.ROCKETMQ),
    ],
)
def test_other_answers_are_not_read(other: RemotingCommand) -> None:
    form = answer_form_of(encode(STORED), STORED, NAMES)
    assert form is not None

    assert form.values(encode(STORED), 7) == ("", "1", "7F", "7")
    assert form.values(encode(other), 7) is None


def test_neither_parts_nor_more_than_one_are_read() -> None:
    frame = encode(STORED)
    form = answer_form_of(frame, STORED, NAMES)
    assert form is not None

    for end in range(len(frame)):
        assert form.values(frame[:end], 7) is None
    assert form.values(frame * 2, 7) is None


@pytest.mark.parametrize(
    "answer",
    [
        replace(STORED, ext_fields=None),
        replace(STORED, ext_fields={"a": "x" * 4096}),
        replace(STORED, ext_fields={"a": "ä"}),
        replace(STORED, ext_fields={"\0": "a"}),
        replace(STORED, body=b"body"),
    ],
)
def test_some_answers_have_no_form(answer: RemotingCommand) -> None:
    assert answer_form_of(encode(answer), answer, [*(answer.ext_fields or {})]) is None


@pytest.mark.parametrize("names", [NAMES[1:], (*NAMES, "more")])
def test_answers_that_tell_something_else_have_no_form(names: tuple[str, ...]) -> None:
    assert answer_form_of(encode(STORED), STORED, names) is None
