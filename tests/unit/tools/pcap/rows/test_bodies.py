"""Bodies as JSON text."""

import json

import pytest

from rocketwire.codes import RequestCode
from rocketwire.messages.operations.registry import OPERATIONS, Raw
from rocketwire_tools.pcap.rows.bodies import body_text

SENDING = [
    code for code, operation in OPERATIONS.items() if operation.request_body is Raw.MESSAGE_BODY
]


def text(body: bytes, code: int, request_code: int | None = None) -> str | None:
    return body_text(body, code=code, request_code=request_code, version=513, ext_fields=None)


@pytest.mark.parametrize("code", SENDING)
def test_sent_message_is_shown_as_hex_like_a_stored_one(code: int) -> None:
    assert {"body": "68690aff"} == json.loads(text(b"hi\n\xff", code) or "")


def test_answer_that_is_an_error_has_no_known_body() -> None:
    assert text(b"{}", 1, RequestCode.GET_ROUTEINFO_BY_TOPIC) is None


@pytest.mark.parametrize("body", [b"", b"\xff", b"{"])
def test_invalid_body_has_no_text(body: bytes) -> None:
    assert text(body, 0, RequestCode.GET_ROUTEINFO_BY_TOPIC) is None
