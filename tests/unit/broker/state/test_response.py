"""Frames of answers and of requests to clients."""

from __future__ import annotations

from rocketwire.codes import LanguageCode, SerializeType
from rocketwire.wire.command import decode
from rocketwire_broker.state.response import (
    RefusedError,
    Response,
    encode_request,
    encode_response,
)


def test_a_response_has_javas_header_and_the_parts_of_its_body() -> None:
    response = Response(19, "NO", {"offset": "3"}, (b"one", b"two"))

    command = decode(b"".join(encode_response(response, 7)))

    assert (command.code, command.opaque, command.remark) == (19, 7, "NO")
    assert (command.ext_fields, command.body) == ({"offset": "3"}, b"onetwo")
    assert command.is_response
    assert (command.language, command.version) == (LanguageCode.JAVA, 513)


def test_a_request_to_a_client_says_whether_an_answer_is_wanted() -> None:
    told = decode(b"".join(encode_request(40, 1, {"consumerGroup": "g"}, b"", oneway=True)))
    asked = decode(b"".join(encode_request(307, 2, None, b"body", oneway=False)))

    assert (told.is_oneway, told.body) == (True, None)
    assert (asked.is_oneway, asked.body, asked.opaque) == (False, b"body", 2)


def test_a_refusal_has_the_response() -> None:
    assert RefusedError(16, "no").response == Response(16, "no")
    assert str(RefusedError(16)) == "code 16"


def test_a_frame_may_have_a_binary_header() -> None:
    response = Response(1, "why", {"a": "b"}, (b"body",))
    answer = decode(b"".join(encode_response(response, 7, binary=True)))
    told = decode(b"".join(encode_request(40, 1, {"g": "x"}, b"", oneway=True, binary=True)))

    assert (answer.code, answer.remark, answer.ext_fields, answer.body) == (
        1,
        "why",
        {"a": "b"},
        b"body",
    )
    assert (answer.opaque, answer.is_response) == (7, True)
    assert (told.code, told.ext_fields, told.flag) == (40, {"g": "x"}, 2)
    assert answer.serialize_type == told.serialize_type == SerializeType.ROCKETMQ
