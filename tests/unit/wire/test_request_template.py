"""Request templates give the bytes of the command, or have no form."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.codes import SerializeType
from rocketwire.errors import EncodeError
from rocketwire.wire.command import RemotingCommand, encode_as
from rocketwire.wire.request_template import build_template

SEND = RemotingCommand(code=310, ext_fields={"a": 'a "group" of 100%s', "b": "T"})
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
INTS = st.integers(min_value=-(2**31), max_value=2**31 - 1)


@given(st.tuples(INTS, INTS), TEXTS, st.binary(), INTS)
def test_a_form_is_a_command(numbers: tuple[int, int], text: str, body: bytes, opaque: int) -> None:
    form = build_template(SEND, ("g", "f"), "i")
    assert form is not None
    request = form.request(numbers, text, body)
    assert request is not None
    fields = {"g": str(numbers[0]), "f": str(numbers[1]), "i": text}
    command = replace(SEND, ext_fields={**(SEND.ext_fields or {}), **fields}, body=body)

    assert request.code == 310
    assert request.frame(opaque) == encode_as(command, opaque, 0)


@given(TEXTS, TEXTS, st.from_regex(r"[0-9A-F]{0,40}", fullmatch=True), INTS)
def test_a_form_can_surround_a_word(prefix: str, suffix: str, word: str, opaque: int) -> None:
    command = replace(SEND, remark='":%b %d')
    form = build_template(command, ("g",), "i")
    assert form is not None
    direct = form.request((1,), prefix + word + suffix, b"body")
    assert direct is not None
    wrapped = form.enclose(prefix, suffix)

    assert wrapped.code == 310
    assert wrapped.frame((1, word.encode()), b"body", opaque) == direct.frame(opaque)


def test_a_form_may_begin_with_its_only_field() -> None:
    form = build_template(RemotingCommand(code=1), (), "i")
    assert form is not None
    request = form.request((), "100%", b"")
    assert request is not None
    assert request.frame(5) == encode_as(RemotingCommand(code=1, ext_fields={"i": "100%"}), 5, 0)


@pytest.mark.parametrize(
    "command",
    [
        replace(SEND, serialize_type=SerializeType.ROCKETMQ),
        replace(SEND, ext_fields={"a": "\0?\0"}),
        replace(SEND, remark="1234567891"),
    ],
    ids=["a binary header", "a value like a blank", "a remark like the number"],
)
def test_a_text_that_contains_the_blank_has_no_form(command: RemotingCommand) -> None:
    assert build_template(command, ("g",), "i") is None


def test_half_of_a_surrogate_pair_goes_the_long_way() -> None:
    form = build_template(SEND, (), "i")
    assert form is not None
    assert form.request((), "\ud800", b"") is None


def test_a_frame_that_no_peer_accepts_is_refused() -> None:
    form = build_template(SEND, (), "i")
    assert form is not None
    request = form.request((), "", bytes(16_777_216))
    assert request is not None
    with pytest.raises(EncodeError, match="exceeds the limit"):
        request.frame(1)
