"""Conversations on one connection; the test sets the time, ``now``."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire import errors
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.connection import Connection, ConnectionState, SentRequest
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


@pytest.fixture
def client() -> Connection:
    return Connection(now=0.0, idle_timeout=None)


def answer(opaque: int, code: int = ResponseCode.SUCCESS) -> RemotingCommand:
    return RemotingCommand(code=code, opaque=opaque, flag=CommandFlag.RESPONSE)


# ------------------------------------------------------------------ requests and their answers


def test_a_single_response_is_returned_without_an_event(client: Connection) -> None:
    opaque = client.send_request(ROUTE, now=1.0).opaque
    assert client.receive_answer(encode(answer(opaque)), opaque, now=2.0) == answer(opaque)
    assert client.in_flight == 0
    assert client.receive_answer(encode(answer(opaque)), opaque, now=3.0) is None
    client.close()
    assert client.receive_answer(encode(answer(opaque)), opaque, now=4.0) is None


@pytest.mark.parametrize(
    "command", [replace(ROUTE, opaque=7), answer(8), replace(answer(7), flag=0)]
)
def test_other_commands_are_left_to_be_received(command: RemotingCommand) -> None:
    client = Connection(now=0.0, first_opaque=7)
    assert client.send_request(ROUTE, now=1.0).opaque == 7
    assert client.receive_answer(encode(command), 7, now=2.0) is None
    assert client.in_flight == 1
    assert len(client.receive(encode(command), now=2.0)) == 1


def test_a_prepared_request_is_sent_like_its_command() -> None:
    form = build_template(HEARTBEAT, (), "i")
    assert form is not None
    request = form.request((), "x", b"{}")
    assert request is not None
    client = Connection(now=0.0, first_opaque=3)
    with_field = replace(HEARTBEAT, ext_fields={"i": "x"}, opaque=3)

    assert client.send_request(request, now=1.0) == (3, encode(with_field))
    with pytest.raises(errors.EncodeError, match="longer than"):
        Connection(now=0.0, max_frame_length=20).send_request(request, now=1.0)


def test_a_request_is_numbered_sent_and_answered(client: Connection) -> None:
    sent = client.send_request(ROUTE, now=1.0)
    assert sent.opaque == 0
    assert decode(sent.data) == replace(ROUTE, opaque=0, flag=0)
    assert client.in_flight == 1

    (event,) = client.receive(encode(answer(0)), now=1.5)
    code = RequestCode.GET_ROUTEINFO_BY_TOPIC
    assert event == ResponseReceived(opaque=0, request_code=code, response=answer(0), elapsed=0.5)
    assert client.in_flight == 0


def test_responses_may_come_in_any_order_and_in_any_pieces(client: Connection) -> None:
    route = client.send_request(ROUTE, now=0.0)
    cluster = client.send_request(CLUSTER, now=0.0)

    stream = encode(answer(cluster.opaque)) + encode(answer(route.opaque))
    events: list[Event] = []
    for offset in range(len(stream)):
        events += client.receive(stream[offset : offset + 1], now=0.0)

    responses = [event for event in events if isinstance(event, ResponseReceived)]
    assert [(event.opaque, event.request_code) for event in responses] == [
        (cluster.opaque, RequestCode.GET_BROKER_CLUSTER_INFO),
        (route.opaque, RequestCode.GET_ROUTEINFO_BY_TOPIC),
    ]
    assert len(events) == 2


@pytest.mark.parametrize(
    ("code", "flag"),
    [
        (ResponseCode.TOPIC_NOT_EXIST, CommandFlag.RESPONSE),
        (ResponseCode.SUCCESS, CommandFlag.RESPONSE | CommandFlag.ONEWAY),
    ],
)
def test_responses_have_a_flag_and_number(
    client: Connection, code: ResponseCode, flag: CommandFlag
) -> None:
    sent = client.send_request(ROUTE, now=0.0)
    response = RemotingCommand(code=code, opaque=sent.opaque, flag=flag)
    (event,) = client.receive(encode(response), now=0.0)
    assert isinstance(event, ResponseReceived)
    assert event.request_code == RequestCode.GET_ROUTEINFO_BY_TOPIC
    assert event.response.code == code


def test_the_second_response_and_one_without_a_request_are_unmatched(client: Connection) -> None:
    sent = client.send_request(ROUTE, now=0.0)
    data = encode(answer(sent.opaque)) * 2 + encode(answer(77))
    first, *unmatched = client.receive(data, now=0.0)
    assert isinstance(first, ResponseReceived)
    responses = (answer(sent.opaque), answer(77))
    assert unmatched == [ResponseUnmatched(response=response) for response in responses]


def test_a_forgotten_request_gets_no_event_and_its_answer_is_unmatched(client: Connection) -> None:
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
    client = Connection(now=0.0, first_opaque=2**31 - 2)
    opaques = [client.send_request(ROUTE, now=0.0).opaque for _ in range(4)]
    assert opaques == [2**31 - 2, 2**31 - 1, -(2**31), -(2**31) + 1]
    (event,) = client.receive(encode(answer(-(2**31))), now=0.0)
    assert isinstance(event, ResponseReceived)


def test_the_number_of_a_pending_request_is_not_given_again() -> None:
    client = Connection(now=0.0, first_opaque=2**31 - 1)
    client.send_request(ROUTE, now=0.0)
    client._next_opaque = 2**31 - 1  # pyright: ignore[reportPrivateUsage] - four billion requests later
    assert client.send_request(ROUTE, now=0.0).opaque == -(2**31)


def test_a_oneway_request_takes_a_number_but_waits_for_nothing(client: Connection) -> None:
    data = client.send_oneway(HEARTBEAT, now=0.0)
    assert decode(data) == replace(HEARTBEAT, opaque=0, flag=CommandFlag.ONEWAY)
    assert client.in_flight == 0
    assert client.send_request(ROUTE, now=0.0).opaque == 1


@pytest.mark.parametrize("first_opaque", [2**31, -(2**31) - 1])
def test_the_first_number_has_to_be_an_int32(first_opaque: int) -> None:
    with pytest.raises(errors.LocalProtocolError, match="not an int32"):
        Connection(now=0.0, first_opaque=first_opaque)


def test_both_known_flag_bits_are_set_and_others_are_kept(client: Connection) -> None:
    request = replace(ROUTE, flag=0b111)
    assert decode(client.send_request(request, now=0.0).data).flag == 0b100
    assert decode(client.send_oneway(request, now=0.0)).flag == 0b110


# ------------------------------------------------------------------ the peer asks


def test_a_request_of_the_peer_is_answered_with_its_own_number(client: Connection) -> None:
    mine = client.send_request(ROUTE, now=0.0)
    theirs = RemotingCommand(code=RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, opaque=mine.opaque)

    (event,) = client.receive(encode(theirs), now=0.0)

    assert event == RequestReceived(request=theirs)
    reply = client.send_response(theirs, RemotingCommand(code=ResponseCode.SUCCESS), now=0.0)
    assert decode(reply) == answer(mine.opaque)
    assert client.in_flight == 1


@pytest.mark.parametrize("flag", [CommandFlag.ONEWAY, CommandFlag.RESPONSE])
def test_only_requests_can_be_answered(client: Connection, flag: CommandFlag) -> None:
    with pytest.raises(errors.LocalProtocolError, match="cannot be answered"):
        client.send_response(replace(HEARTBEAT, flag=flag), RemotingCommand(code=0), now=0.0)


# ------------------------------------------------------------------ limits


def test_a_request_that_is_sent_alone_has_the_same_limit() -> None:
    form = build_template(RemotingCommand(code=310), (), "i")
    assert form is not None
    client = Connection(now=0.0, max_frame_length=200)
    with pytest.raises(errors.EncodeError, match="longer than 200"):
        client.send_alone(form, (b"text",), bytes(200), 1.0)
    sent = client.send_alone(form, (b'"text"',), b"", 1.0)

    assert sent is not None
    assert sent[0] == 0
    assert decode(sent[1]).ext_fields == {"i": "text"}


def test_the_number_of_pending_requests_is_limited() -> None:
    client = Connection(now=0.0, max_in_flight=2)
    first = client.send_request(ROUTE, now=0.0)
    client.send_request(ROUTE, now=0.0)

    with pytest.raises(errors.LocalProtocolError, match="2 requests are pending already"):
        client.send_request(ROUTE, now=0.0)

    client.send_oneway(HEARTBEAT, now=0.0)
    client.receive(encode(answer(first.opaque)), now=0.0)
    assert client.send_request(ROUTE, now=0.0).opaque == 3


def test_a_command_that_cannot_be_encoded_changes_nothing() -> None:
    client = Connection(now=0.0, max_frame_length=200)
    with pytest.raises(errors.EncodeError, match="longer than 200"):
        client.send_request(replace(ROUTE, body=bytes(200)), now=0.0)
    assert client.in_flight == 0
    assert client.send_request(ROUTE, now=0.0).opaque == 0


# ------------------------------------------------------------------ time


def test_a_request_times_out_and_a_late_response_is_unmatched(client: Connection) -> None:
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


def test_the_earliest_deadline_of_pending_requests_comes_first(client: Connection) -> None:
    second = client.send_request(ROUTE, now=0.0, deadline=9.0)
    first = client.send_request(ROUTE, now=0.0, deadline=3.0)
    client.send_request(ROUTE, now=0.0)

    assert client.next_deadline() == 3.0
    client.receive(encode(answer(first.opaque)), now=1.0)
    assert client.next_deadline() == 9.0

    (event,) = client.handle_deadline(9.0)
    assert isinstance(event, RequestTimedOut)
    assert event.opaque == second.opaque
    assert client.in_flight == 1


def test_many_settled_deadlines_are_not_kept(client: Connection) -> None:
    slow = client.send_request(ROUTE, now=0.0, deadline=1.0)
    unbounded = client.send_request(ROUTE, now=0.0)
    for _ in range(1000):
        sent = client.send_request(CLUSTER, now=0.0, deadline=100.0)
        client.receive(encode(answer(sent.opaque)), now=0.0)

    assert len(client._deadlines) < 100  # pyright: ignore[reportPrivateUsage] - its length is bounded
    assert client.next_deadline() == 1.0
    (event,) = client.handle_deadline(200.0)
    assert isinstance(event, RequestTimedOut)
    assert event.opaque == slow.opaque
    assert client.forget(unbounded.opaque)


def test_silence_ends_the_connection_and_abandons_its_requests() -> None:
    client = Connection(now=0.0, idle_timeout=120.0)
    sent = client.send_request(ROUTE, now=5.0)

    assert client.next_deadline() == 125.0
    assert client.handle_deadline(125.0) == (
        ConnectionIdle(silence=120.0),
        RequestAbandoned(opaque=sent.opaque, request_code=RequestCode.GET_ROUTEINFO_BY_TOPIC),
    )
    assert client.state is ConnectionState.CLOSED
    assert client.next_deadline() is None
    assert client.handle_deadline(999.0) == ()


def test_the_next_deadline_is_that_of_a_request_or_of_silence() -> None:
    client = Connection(now=0.0, idle_timeout=120.0)

    client.receive(b"\x00", now=10.0)
    assert client.next_deadline() == 130.0
    client.send_oneway(HEARTBEAT, now=20.0)
    assert client.next_deadline() == 140.0
    client.send_response(ROUTE, RemotingCommand(code=0), now=30.0)
    assert client.next_deadline() == 150.0
    client.send_request(ROUTE, now=40.0, deadline=43.0)
    assert client.next_deadline() == 43.0


def test_a_response_without_an_event_ends_the_silence() -> None:
    client = Connection(now=0.0, idle_timeout=120.0)
    opaque = client.send_request(ROUTE, now=0.0).opaque
    client.receive_answer(encode(answer(opaque)), opaque, now=10.0)
    assert client.next_deadline() == 130.0


# ------------------------------------------------------------------ the end


def test_closing_abandons_requests_in_their_order(client: Connection) -> None:
    client.send_request(ROUTE, now=0.0, deadline=3.0)
    client.send_request(CLUSTER, now=0.0)

    assert client.close() == (
        RequestAbandoned(opaque=0, request_code=RequestCode.GET_ROUTEINFO_BY_TOPIC),
        RequestAbandoned(opaque=1, request_code=RequestCode.GET_BROKER_CLUSTER_INFO),
    )
    assert client.state is ConnectionState.CLOSED
    assert client.close() == ()
    assert client.in_flight == 0


def test_nothing_is_sent_or_received_on_a_closed_connection(client: Connection) -> None:
    client.close()

    for call in (
        lambda: client.send_request(ROUTE, now=0.0),
        lambda: client.send_oneway(ROUTE, now=0.0),
        lambda: client.send_response(ROUTE, RemotingCommand(code=0), now=0.0),
        lambda: client.receive(b"\x00", now=0.0),
    ):
        with pytest.raises(errors.LocalProtocolError, match="closed"):
            call()


def test_the_peer_closes_between_frames(client: Connection) -> None:
    sent = client.send_request(ROUTE, now=0.0)
    assert client.receive(b"", now=1.0) == (
        PeerClosed(unread=0),
        RequestAbandoned(opaque=sent.opaque, request_code=RequestCode.GET_ROUTEINFO_BY_TOPIC),
    )
    assert client.state is ConnectionState.CLOSED


def test_the_peer_closes_inside_a_frame(client: Connection) -> None:
    client.receive(encode(answer(0))[:-1], now=0.0)
    (event,) = client.receive(b"", now=1.0)
    assert event == PeerClosed(unread=len(encode(answer(0))) - 1)


def test_unreadable_bytes_break_the_connection_after_whole_frames(client: Connection) -> None:
    answered = client.send_request(ROUTE, now=0.0)
    waiting = client.send_request(CLUSTER, now=0.0)

    first, broken, abandoned = client.receive(encode(answer(answered.opaque)) + BAD_TYPE, now=0.0)

    assert isinstance(first, ResponseReceived)
    assert isinstance(broken, ConnectionBroken)
    assert isinstance(broken.error, errors.UnknownHeaderTypeError)
    assert abandoned == RequestAbandoned(
        opaque=waiting.opaque, request_code=RequestCode.GET_BROKER_CLUSTER_INFO
    )
    assert client.state is ConnectionState.BROKEN


def test_a_broken_connection_stays_broken(client: Connection) -> None:
    (broken,) = client.receive(BAD_TYPE, now=0.0)
    assert isinstance(broken, ConnectionBroken)

    for data in (encode(answer(0)), b""):
        with pytest.raises(errors.UnknownHeaderTypeError) as caught:
            client.receive(data, now=0.0)
        assert caught.value is broken.error
    with pytest.raises(errors.LocalProtocolError, match="broken"):
        client.send_request(ROUTE, now=0.0)
    assert client.close() == ()
    assert client.handle_deadline(1e9) == ()
    assert client.next_deadline() is None


def test_a_frame_over_the_limit_breaks_the_connection_on_its_first_bytes() -> None:
    client = Connection(now=0.0, max_frame_length=1000)
    (broken,) = client.receive(bytes.fromhex("000003e5"), now=0.0)
    assert isinstance(broken, ConnectionBroken)
    assert isinstance(broken.error, errors.FrameTooLargeError)


@given(st.lists(st.binary(min_size=1), max_size=8), st.booleans())
def test_any_bytes_give_events_or_one_decode_error(pieces: list[bytes], good_start: bool) -> None:
    client = Connection(now=0.0)
    sent: SentRequest = client.send_request(ROUTE, now=0.0)
    if good_start:
        pieces = [encode(answer(sent.opaque)), *pieces]

    events: list[Event] = []
    for piece in pieces:
        if client.state is ConnectionState.BROKEN:
            with pytest.raises(errors.DecodeError):
                client.receive(piece, now=0.0)
        else:
            events += client.receive(piece, now=0.0)
    events += client.close()

    settled = [e for e in events if isinstance(e, ResponseReceived | RequestAbandoned)]
    assert [e.opaque for e in settled] == [sent.opaque]
    assert sum(isinstance(e, ConnectionBroken) for e in events) == (
        client.state is ConnectionState.BROKEN
    )
