"""Requests of one connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.codes import SerializeType
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire.wire.message.host import Host
from rocketwire_broker.protocol.session import Session
from rocketwire_broker.tables.peer import Peer
from tests.support.broker import BrokerAtHand

if TYPE_CHECKING:
    import pytest


def request(code: int, opaque: int, ext: dict[str, str] | None = None) -> bytes:
    return encode(RemotingCommand(code=code, opaque=opaque, ext_fields=ext))


def test_an_error_of_ours_is_answered_and_the_connection_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home = BrokerAtHand()
    client = home.connect()
    monkeypatch.setattr(home.broker, "groups", None)

    answer = client.pull_now()

    assert answer.code == 1
    assert "AttributeError" in (answer.remark or "")
    assert "request 11 of 127.0.0.1:40001 failed" in caplog.text
    assert client.call(26).code == 0


def test_a_broker_may_write_binary_headers_only() -> None:
    client = BrokerAtHand(binary=True).connect()

    assert client.call(26).serialize_type == SerializeType.ROCKETMQ


def test_expensive_requests_take_a_turn_each() -> None:
    fields = {"topic": "t", "key": "k", "maxNum": "1", "beginTimestamp": "0", "endTimestamp": "9"}
    home = BrokerAtHand()
    peer = Peer(1, "127.0.0.1:1", Host(bytes(4), 1))
    session = Session(home.broker, peer)
    home.broker.add_peer(peer)
    counts: list[int] = []
    for data in (request(12, 1, fields) * 3, b"", b"", b""):
        session.receive(data, home.now)
        counts.append(b"".join(peer.out).count(b'"code":22'))

    assert counts == [1, 2, 3, 3]
    assert not session.is_paused


def test_a_session_handles_nothing_while_too_much_is_unsent() -> None:
    home = BrokerAtHand(max_unsent_bytes=100)
    peer = Peer(1, "127.0.0.1:1", Host(bytes(4), 1))
    session = Session(home.broker, peer)
    home.broker.add_peer(peer)

    session.receive(request(26, 1) * 3, home.now)
    once = peer.unsent
    session.receive(b"", home.now)
    assert (session.is_paused, session.has_handled, peer.unsent) == (True, False, once)

    peer.unsent = 0
    session.receive(b"", home.now)
    assert (session.is_paused, session.has_handled, peer.unsent) == (True, True, once)
