"""Requests of one connection."""

import pytest

from rocketwire.codes import RequestCode, ResponseCode, SerializeType
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire.wire.message.host import Host
from rocketwire_broker.protocol.session import Session
from rocketwire_broker.tables.members import Peer
from tests.support.broker import BrokerAtHand, Client
from tests.unit.broker.stream_client import GET_CONFIG


def test_internal_error_is_answered(
    home: BrokerAtHand,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(home.broker, "groups", None)

    answer = client.pull_now()

    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert "AttributeError" in (answer.remark or "")
    assert "request 11 of 127.0.0.1:40001 failed" in caplog.text
    assert client.call(RequestCode.GET_BROKER_CONFIG).code == 0


def test_a_broker_may_write_binary_headers_only() -> None:
    client = BrokerAtHand(binary=True).connect()

    assert client.call(RequestCode.GET_BROKER_CONFIG).serialize_type == SerializeType.ROCKETMQ


def open_session(home: BrokerAtHand) -> tuple[Session, Peer]:
    peer = Peer(1, "127.0.0.1:1", Host(bytes(4), 1))
    home.broker.add_peer(peer)
    return Session(home.broker, peer), peer


def test_expensive_requests_take_a_turn_each(home: BrokerAtHand) -> None:
    fields = {"topic": "t", "key": "k", "maxNum": "1", "beginTimestamp": "0", "endTimestamp": "9"}
    code = RequestCode.QUERY_MESSAGE
    request = encode(RemotingCommand(code=code, opaque=1, ext_fields=fields))
    session, peer = open_session(home)
    counts: list[int] = []
    for data in (request * 3, b"", b"", b""):
        session.receive(data, home.now)
        counts.append(b"".join(peer.out).count(b'"code":22'))

    assert counts == [1, 2, 3, 3]
    assert not session.is_paused


def test_a_session_handles_nothing_while_too_much_is_unsent() -> None:
    home = BrokerAtHand(max_unsent_bytes=100)
    session, peer = open_session(home)

    session.receive(GET_CONFIG * 3, home.now)
    size = peer.unsent
    session.receive(b"", home.now)
    assert (session.is_paused, session.has_handled, peer.unsent) == (True, False, size)

    peer.unsent = 0
    session.receive(b"", home.now)
    assert (session.is_paused, session.has_handled, peer.unsent) == (True, True, size)
