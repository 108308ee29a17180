"""Conversations on one connection, read from top to bottom; ``now`` is whatever the test says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.connection import Connection, ConnectionState, SentRequest
from rocketwire.errors import (
    DecodeError,
    EncodeError,
    FrameTooLargeError,
    LocalProtocolError,
    UnknownHeaderTypeError,
)
from rocketwire.events import (
    ConnectionBroken,
    ConnectionIdle,
    Event,
    PeerClosed,
    RequestAbandoned,
    RequestReceived,
    RequestTimedOut,
    ResponseReceived,
    ResponseUnmatched,
)
from rocketwire.flags import CommandFlag
from rocketwire.wire.command import RemotingCommand, decode, encode
from rocketwire.wire.request_template import build_template

ROUTE = RemotingCommand(code=RequestCode.GET_ROUTEINFO_BY_TOPIC, ext_fields={"topic": "TopicTest"})
CLUSTER = RemotingCommand(code=RequestCode.GET_BROKER_CLUSTER_INFO)
HEARTBEAT = RemotingCommand(code=RequestCode.HEART_BEAT, body=b"{}")

BAD_TYPE = bytes.fromhex("0000000407000000")
"""A frame whose header is neither JSON nor ROCKETMQ."""


def opened(
    now: float = 0.0, *, first_opaque: int = 0, idle_timeout: float | None = None
) -> Connection:
    return Connection(now=now, first_opaque=first_opaque, idle_timeout=idle_timeout)


def answer(opaque: int, code: int = ResponseCode.SUCCESS) -> RemotingCommand:
    return RemotingCommand(code=code, opaque=opaque, flag=CommandFlag.RESPONSE)


# ------------------------------------------------------------------ requests and their answers


def test_the_only_answer_is_taken_without_an_event() -> None:
    client = opened()
    asked = client.send_request(ROUTE, now=1.0).opaque

    assert client.receive_answer(encode(answer(asked)), asked, now=2.0) == answer(asked)
    assert client.in_flight == 0
    assert client.receive_answer(encode(answer(asked)), asked, now=3.0) is None
    client.close()
    assert client.receive_answer(encode(answer(asked)), asked, now=4.0) is None


@pytest.mark.parametrize("other", [replace(ROUTE, opaque=7), answer(8), replace(answer(7), flag=0)])
def test_what_is_not_the_only_answer_is_left_to_be_received(other: RemotingCommand) -> None:
    client = opened(first_opaque=7)
    assert client.send_request(ROUTE, now=1.0).opaque == 7

    assert client.receive_answer(encode(other), 7, now=2.0) is None
    assert client.in_flight == 1
    assert len(client.receive(encode(other), now=2.0)) == 1


def test_a_prepared_request_is_sent_like_its_command() -> None:
    form = build_template(HEARTBEAT, (), "i")
    assert form is not None
    request = form.request((), "x", b"{}")
    assert request is not None
    client = opened(first_opaque=3)
    with_field = replace(HEARTBEAT, ext_fields={"i": "x"}, opaque=3)

    assert client.send_request(request, now=1.0) == (3, encode(with_field))
    with pytest.raises(EncodeError, match="longer than"):
        Connection(now=0.0, max_frame_length=20).send_request(request, now=1.0)


def test_a_request_is_numbered_sent_and_answered() -> None:
    client = opened()

    sent = client.send_request(ROUTE, now=1.0)

    assert sent.opaque == 0
    assert decode(sent.data) == replace(ROUTE, opaque=0, flag=0)
    assert client.in_flight == 1

    found = answer(0)
    events = client.receive(encode(found), now=1.5)

    assert events == (
        ResponseReceived(
            opaque=0,
            request_code=RequestCode.GET_ROUTEINFO_BY_TOPIC,
            response=found,
            elapsed=0.5,
        ),
    )
    assert client.in_flight == 0


def test_answers_may_come_in_any_order_and_in_any_pieces() -> None:
    client = opened()
    route = client.send_request(ROUTE, now=0.0)
    cluster = client.send_request(CLUSTER, now=0.0)

    stream = encode(answer(cluster.opaque)) + encode(answer(route.opaque))
    events: list[Event] = []
    for at in range(len(stream)):
        events += client.receive(stream[at : at + 1], now=0.0)

    assert [
        (event.opaque, event.request_code)
        for event in events
        if isinstance(event, ResponseReceived)
    ] == [
        (cluster.opaque, RequestCode.GET_BROKER_CLUSTER_INFO),
        (route.opaque, RequestCode.GET_ROUTEINFO_BY_TOPIC),
    ]
    assert len(events) == 2


def test_an_answer_is_known_by_its_flag_and_number_not_by_its_code() -> None:
    client = opened()
    sent = client.send_request(ROUTE, now=0.0)

    not_found = answer(sent.opaque, ResponseCode.TOPIC_NOT_EXIST)
    (event,) = client.receive(encode(not_found), now=0.0)

    assert isinstance(event, ResponseReceived)
    assert event.request_code == RequestCode.GET_ROUTEINFO_BY_TOPIC
    assert event.response.code == ResponseCode.TOPIC_NOT_EXIST


def test_a_response_with_the_oneway_bit_is_still_a_response() -> None:
    client = opened()
    sent = client.send_request(ROUTE, now=0.0)

    odd = replace(answer(sent.opaque), flag=CommandFlag.RESPONSE | CommandFlag.ONEWAY)
    (event,) = client.receive(encode(odd), now=0.0)

    assert isinstance(event, ResponseReceived)


def test_the_second_of_two_answers_is_unmatched() -> None:
    client = opened()
    sent = client.send_request(ROUTE, now=0.0)

    first, second = client.receive(encode(answer(sent.opaque)) * 2, now=0.0)

    assert isinstance(first, ResponseReceived)
    assert second == ResponseUnmatched(response=answer(sent.opaque))


def test_an_answer_to_nothing_is_unmatched() -> None:
    client = opened()

    assert client.receive(encode(answer(77)), now=0.0) == (ResponseUnmatched(response=answer(77)),)


def test_a_forgotten_request_gets_no_event_and_its_answer_is_unmatched() -> None:
    client = opened()
    sent = client.send_request(ROUTE, now=0.0, deadline=3.0)

    assert client.forget(sent.opaque)
    assert not client.forget(sent.opaque)
    assert client.next_deadline() is None
    assert client.handle_deadline(5.0) == ()
    assert client.receive(encode(answer(sent.opaque)), now=6.0) == (
        ResponseUnmatched(response=answer(sent.opaque)),
    )


# ------------------------------------------------------------------ numbers


def test_numbers_go_up_and_wrap_from_the_largest_int32_to_the_smallest() -> None:
    client = opened(first_opaque=2**31 - 2)

    opaques = [client.send_request(ROUTE, now=0.0).opaque for _ in range(4)]

    assert opaques == [2**31 - 2, 2**31 - 1, -(2**31), -(2**31) + 1]
    (event,) = client.receive(encode(answer(-(2**31))), now=0.0)
    assert isinstance(event, ResponseReceived)


def test_a_number_that_waits_is_not_given_again() -> None:
    client = opened(first_opaque=2**31 - 1)
    waiting = [client.send_request(ROUTE, now=0.0).opaque for _ in range(3)]

    once_round = opened(first_opaque=2**31 - 1)
    once_round.send_request(ROUTE, now=0.0)
    once_round._next_opaque = 2**31 - 1  # pyright: ignore[reportPrivateUsage] - four billion requests later

    assert waiting == [2**31 - 1, -(2**31), -(2**31) + 1]
    assert once_round.send_request(ROUTE, now=0.0).opaque == -(2**31)


def test_a_oneway_request_takes_a_number_but_waits_for_nothing() -> None:
    client = opened()

    data = client.send_oneway(HEARTBEAT, now=0.0)

    assert decode(data) == replace(HEARTBEAT, opaque=0, flag=CommandFlag.ONEWAY)
    assert client.in_flight == 0
    assert client.send_request(ROUTE, now=0.0).opaque == 1


@pytest.mark.parametrize("first_opaque", [2**31, -(2**31) - 1])
def test_the_first_number_has_to_be_an_int32(first_opaque: int) -> None:
    with pytest.raises(LocalProtocolError, match="not an int32"):
        opened(first_opaque=first_opaque)


def test_both_known_flag_bits_are_set_by_the_kind_of_sending_and_others_are_kept() -> None:
    client = opened()
    odd = replace(ROUTE, flag=0b111)

    assert decode(client.send_request(odd, now=0.0).data).flag == 0b100
    assert decode(client.send_oneway(odd, now=0.0)).flag == 0b110


# ------------------------------------------------------------------ the peer asks


def test_the_peer_may_ask_and_is_answered_under_its_own_number() -> None:
    client = opened()
    mine = client.send_request(ROUTE, now=0.0)
    theirs = RemotingCommand(code=RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, opaque=mine.opaque)

    (event,) = client.receive(encode(theirs), now=0.0)

    assert event == RequestReceived(request=theirs)
    reply = client.send_response(theirs, RemotingCommand(code=ResponseCode.SUCCESS), now=0.0)
    assert decode(reply) == answer(mine.opaque)
    assert client.in_flight == 1


def test_two_connections_talk_to_each_other() -> None:
    client, server = opened(), opened(first_opaque=100)

    sent = client.send_request(ROUTE, now=0.0)
    (asked,) = server.receive(sent.data, now=0.1)
    assert isinstance(asked, RequestReceived)
    reply = server.send_response(asked.request, RemotingCommand(code=0, body=b"{}"), now=0.2)
    (answered,) = client.receive(reply, now=0.3)

    assert isinstance(answered, ResponseReceived)
    assert (answered.opaque, answered.response.body) == (sent.opaque, b"{}")


@pytest.mark.parametrize("flag", [CommandFlag.ONEWAY, CommandFlag.RESPONSE])
def test_what_wants_no_answer_cannot_be_answered(flag: CommandFlag) -> None:
    client = opened()

    with pytest.raises(LocalProtocolError, match="cannot be answered"):
        client.send_response(replace(HEARTBEAT, flag=flag), RemotingCommand(code=0), now=0.0)


# ------------------------------------------------------------------ limits


def test_a_request_that_is_sent_alone_is_no_longer_than_others_may_be() -> None:
    form = build_template(RemotingCommand(code=310), (), "i")
    assert form is not None
    client = Connection(now=0.0, max_frame_length=200)
    with pytest.raises(EncodeError, match="longer than 200"):
        client.send_alone(form, (b"text",), bytes(200), 1.0)
    sent = client.send_alone(form, (b'"text"',), b"", 1.0)

    assert sent is not None
    assert sent[0] == 0
    assert decode(sent[1]).ext_fields == {"i": "text"}


def test_no_more_requests_than_allowed_wait_at_once() -> None:
    client = Connection(now=0.0, max_in_flight=2)
    first = client.send_request(ROUTE, now=0.0)
    client.send_request(ROUTE, now=0.0)

    with pytest.raises(LocalProtocolError, match="2 requests are pending already"):
        client.send_request(ROUTE, now=0.0)

    client.send_oneway(HEARTBEAT, now=0.0)
    client.receive(encode(answer(first.opaque)), now=0.0)
    assert client.send_request(ROUTE, now=0.0).opaque == 3


def test_a_command_that_cannot_be_said_leaves_no_trace() -> None:
    client = Connection(now=0.0, max_frame_length=200)

    with pytest.raises(EncodeError, match="longer than 200"):
        client.send_request(replace(ROUTE, body=bytes(200)), now=0.0)

    assert client.in_flight == 0
    assert client.send_request(ROUTE, now=0.0).opaque == 0


# ------------------------------------------------------------------ time


def test_a_request_times_out_at_its_deadline_and_a_late_answer_is_unmatched() -> None:
    client = opened()
    sent = client.send_request(ROUTE, now=10.0, deadline=13.0)

    assert client.next_deadline() == 13.0
    assert client.handle_deadline(12.9) == ()
    assert client.handle_deadline(13.25) == (
        RequestTimedOut(
            opaque=sent.opaque, request_code=RequestCode.GET_ROUTEINFO_BY_TOPIC, elapsed=3.25
        ),
    )
    assert client.next_deadline() is None
    assert client.receive(encode(answer(sent.opaque)), now=14.0) == (
        ResponseUnmatched(response=answer(sent.opaque)),
    )


def test_the_earliest_deadline_of_those_that_wait_comes_first() -> None:
    client = opened()
    late = client.send_request(ROUTE, now=0.0, deadline=9.0)
    early = client.send_request(ROUTE, now=0.0, deadline=3.0)
    client.send_request(ROUTE, now=0.0)

    assert client.next_deadline() == 3.0
    client.receive(encode(answer(early.opaque)), now=1.0)
    assert client.next_deadline() == 9.0

    (event,) = client.handle_deadline(9.0)
    assert isinstance(event, RequestTimedOut)
    assert event.opaque == late.opaque
    assert client.in_flight == 1


def test_many_settled_deadlines_are_not_kept() -> None:
    client = opened()
    slow = client.send_request(ROUTE, now=0.0, deadline=1.0)
    unbounded = client.send_request(ROUTE, now=0.0)
    for _ in range(1000):
        sent = client.send_request(CLUSTER, now=0.0, deadline=100.0)
        client.receive(encode(answer(sent.opaque)), now=0.0)

    assert len(client._deadlines) < 100  # pyright: ignore[reportPrivateUsage] - what is bounded
    assert client.next_deadline() == 1.0
    (event,) = client.handle_deadline(200.0)
    assert isinstance(event, RequestTimedOut)
    assert event.opaque == slow.opaque
    assert client.forget(unbounded.opaque)


def test_silence_ends_the_connection_and_wakes_all_who_wait() -> None:
    client = opened(now=0.0, idle_timeout=120.0)
    sent = client.send_request(ROUTE, now=5.0)

    assert client.next_deadline() == 125.0
    assert client.handle_deadline(125.0) == (
        ConnectionIdle(silence=120.0),
        RequestAbandoned(opaque=sent.opaque, request_code=RequestCode.GET_ROUTEINFO_BY_TOPIC),
    )
    assert client.state is ConnectionState.CLOSED
    assert client.next_deadline() is None
    assert client.handle_deadline(999.0) == ()


def test_bytes_in_either_direction_end_the_silence() -> None:
    client = opened(now=0.0, idle_timeout=120.0)

    client.receive(b"\x00", now=10.0)
    assert client.next_deadline() == 130.0
    client.send_oneway(HEARTBEAT, now=20.0)
    assert client.next_deadline() == 140.0
    client.send_response(ROUTE, RemotingCommand(code=0), now=30.0)
    assert client.next_deadline() == 150.0


def test_the_only_answer_ends_the_silence() -> None:
    client = opened(now=0.0, idle_timeout=120.0)
    opaque = client.send_request(ROUTE, now=0.0).opaque

    client.receive_answer(encode(answer(opaque)), opaque, now=10.0)

    assert client.next_deadline() == 130.0


def test_the_earlier_of_silence_and_deadline_is_next() -> None:
    client = opened(now=0.0, idle_timeout=120.0)
    client.send_request(ROUTE, now=0.0, deadline=3.0)

    assert client.next_deadline() == 3.0


# ------------------------------------------------------------------ the end


def test_closing_wakes_all_who_wait_in_the_order_of_asking() -> None:
    client = opened()
    client.send_request(ROUTE, now=0.0, deadline=3.0)
    client.send_request(CLUSTER, now=0.0)

    assert client.close() == (
        RequestAbandoned(opaque=0, request_code=RequestCode.GET_ROUTEINFO_BY_TOPIC),
        RequestAbandoned(opaque=1, request_code=RequestCode.GET_BROKER_CLUSTER_INFO),
    )
    assert client.state is ConnectionState.CLOSED
    assert client.close() == ()
    assert client.in_flight == 0


def test_nothing_is_sent_or_received_on_a_closed_connection() -> None:
    client = opened()
    client.close()

    with pytest.raises(LocalProtocolError, match="closed"):
        client.send_request(ROUTE, now=0.0)
    with pytest.raises(LocalProtocolError, match="closed"):
        client.send_oneway(ROUTE, now=0.0)
    with pytest.raises(LocalProtocolError, match="closed"):
        client.send_response(ROUTE, RemotingCommand(code=0), now=0.0)
    with pytest.raises(LocalProtocolError, match="closed"):
        client.receive(b"\x00", now=0.0)


def test_the_peer_closes_between_frames() -> None:
    client = opened()
    sent = client.send_request(ROUTE, now=0.0)

    assert client.receive(b"", now=1.0) == (
        PeerClosed(unread=0),
        RequestAbandoned(opaque=sent.opaque, request_code=RequestCode.GET_ROUTEINFO_BY_TOPIC),
    )
    assert client.state is ConnectionState.CLOSED


def test_the_peer_closes_inside_a_frame() -> None:
    client = opened()
    client.receive(encode(answer(0))[:-1], now=0.0)

    (event,) = client.receive(b"", now=1.0)

    assert event == PeerClosed(unread=len(encode(answer(0))) - 1)


def test_unreadable_bytes_break_the_connection_after_what_came_whole() -> None:
    client = opened()
    answered = client.send_request(ROUTE, now=0.0)
    waiting = client.send_request(CLUSTER, now=0.0)

    first, broken, abandoned = client.receive(encode(answer(answered.opaque)) + BAD_TYPE, now=0.0)

    assert isinstance(first, ResponseReceived)
    assert isinstance(broken, ConnectionBroken)
    assert isinstance(broken.error, UnknownHeaderTypeError)
    assert abandoned == RequestAbandoned(
        opaque=waiting.opaque, request_code=RequestCode.GET_BROKER_CLUSTER_INFO
    )
    assert client.state is ConnectionState.BROKEN


def test_a_broken_connection_stays_broken() -> None:
    client = opened()
    (broken,) = client.receive(BAD_TYPE, now=0.0)
    assert isinstance(broken, ConnectionBroken)

    for data in (encode(answer(0)), b""):
        with pytest.raises(UnknownHeaderTypeError) as caught:
            client.receive(data, now=0.0)
        assert caught.value is broken.error
    with pytest.raises(LocalProtocolError, match="broken"):
        client.send_request(ROUTE, now=0.0)
    assert client.close() == ()
    assert client.handle_deadline(1e9) == ()
    assert client.next_deadline() is None


def test_a_frame_over_the_limit_breaks_the_connection_on_its_first_bytes() -> None:
    client = Connection(now=0.0, max_frame_length=1000)

    (broken,) = client.receive(bytes.fromhex("000003e5"), now=0.0)

    assert isinstance(broken, ConnectionBroken)
    assert isinstance(broken.error, FrameTooLargeError)


@given(st.lists(st.binary(min_size=1), max_size=8), st.booleans())
def test_any_bytes_give_events_or_one_decode_error(pieces: list[bytes], good_start: bool) -> None:
    client = opened()
    sent: SentRequest = client.send_request(ROUTE, now=0.0)
    if good_start:
        pieces = [encode(answer(sent.opaque)), *pieces]

    events: list[Event] = []
    for piece in pieces:
        if client.state is ConnectionState.BROKEN:
            with pytest.raises(DecodeError):
                client.receive(piece, now=0.0)
        else:
            events += client.receive(piece, now=0.0)
    events += client.close()

    settled = [e for e in events if isinstance(e, ResponseReceived | RequestAbandoned)]
    assert [e.opaque for e in settled] == [sent.opaque]
    assert sum(isinstance(e, ConnectionBroken) for e in events) == (
        client.state is ConnectionState.BROKEN
    )
