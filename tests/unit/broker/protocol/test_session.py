"""Requests of one connection."""

from __future__ import annotations

import pytest

from rocketwire.codes import SerializeType
from rocketwire.errors import DecodeError
from rocketwire.wire.command import RemotingCommand, encode
from tests.support.broker import BrokerAtHand


def request(code: int, opaque: int, ext: dict[str, str] | None = None) -> bytes:
    return encode(RemotingCommand(code=code, opaque=opaque, ext_fields=ext))


def test_requests_of_one_read_are_handled_in_their_order() -> None:
    client = BrokerAtHand().connect()
    beat = RemotingCommand(
        code=34,
        opaque=1,
        body=b'{"clientID":"c","consumerDataSet":[{"groupName":"g","subscriptionDataSet":[]}]}',
    )

    client.send_bytes(encode(beat) + request(38, 2, {"consumerGroup": "g"}))

    assert client.answer_to(1) is not None
    answer = client.answer_to(2)
    assert answer is not None
    assert answer.body == b'{"consumerIdList":["c"]}'


def test_a_request_may_come_in_pieces() -> None:
    client = BrokerAtHand().connect()
    data = request(30, 1, {"topic": "t", "queueId": "0"}) + request(26, 2)

    for index in range(len(data)):
        client.send_bytes(data[index : index + 1])

    assert client.answer_to(1) is not None
    assert client.answer_to(2) is not None


@pytest.mark.parametrize("code", [105, 106, 513, 901, 9999, -1])
def test_an_unknown_code_is_not_supported(code: int) -> None:
    answer = BrokerAtHand().connect().call(code, {})

    assert (answer.code, answer.remark) == (3, f" request type {code} not supported")


def test_an_answer_that_nobody_waits_for_is_dropped() -> None:
    client = BrokerAtHand().connect()

    client.send_bytes(encode(RemotingCommand(code=0, opaque=5, flag=1)))

    assert client.received == []


def test_an_error_of_ours_is_answered_and_the_connection_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home = BrokerAtHand()
    client = home.connect()
    monkeypatch.setattr(home.broker, "groups", None)

    answer = client.pulled()

    assert answer.code == 1
    assert "AttributeError" in (answer.remark or "")
    assert "request 11 of 127.0.0.1:40001 failed" in caplog.text
    assert client.call(26).code == 0


def test_what_is_not_the_protocol_ends_the_connection() -> None:
    client = BrokerAtHand().connect()

    with pytest.raises(DecodeError):
        client.send_bytes(b"GET / HTTP/1.1\r\n\r\n")


def test_answers_to_binary_requests_are_json_as_those_of_java() -> None:
    client = BrokerAtHand().connect()
    forms: list[SerializeType] = []
    for form in (SerializeType.ROCKETMQ, SerializeType.JSON):
        client.send_bytes(encode(RemotingCommand(code=26, opaque=1, serialize_type=form)))
        answer = client.answer_to(1)
        assert answer is not None
        forms.append(answer.serialize_type)

    assert forms == [SerializeType.JSON, SerializeType.JSON]


def test_a_broker_may_write_binary_headers_only() -> None:
    client = BrokerAtHand(binary=True).connect()

    assert client.call(26).serialize_type == SerializeType.ROCKETMQ
