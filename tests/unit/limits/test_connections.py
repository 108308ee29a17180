"""Frames and headers of the greatest size pass a connection; a larger one ends that connection and no other."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from struct import pack
from typing import Any, TypeAlias

import pytest
import trio
import trio.testing

from rocketwire.codes import RequestCode, SerializeType
from rocketwire.connection import DEFAULT_MAX_IN_FLIGHT
from rocketwire.errors import (
    ChannelError,
    DecodeError,
    FrameTooLargeError,
    HeaderTooLargeError,
    LimitExceededError,
    LocalProtocolError,
)
from rocketwire.flags import CommandFlag
from rocketwire.transport.channel import Channel, open_channel_over
from rocketwire.wire.command import CommandDecoder, RemotingCommand, decode, encode
from rocketwire.wire.frame import MAX_FRAME_LENGTH, MAX_HEADER_LENGTH
from rocketwire.wire.layouts.fused import MAX_EXT_FIELDS

ASK = RemotingCommand(code=RequestCode.GET_ROUTEINFO_BY_TOPIC)
JSON_START = b'{"code":0,"flag":1,"language":"JAVA","opaque":%d,"version":513,"extFields":'


def answer_to(request: RemotingCommand, **parts: Any) -> RemotingCommand:
    return RemotingCommand(opaque=request.opaque, flag=CommandFlag.RESPONSE, code=0, **parts)


def frame_header(header: bytes) -> bytes:
    return pack(">II", 4 + len(header), len(header)) + header


Respond: TypeAlias = "Callable[[RemotingCommand], bytes]"


@asynccontextmanager
async def two_channels(respond: Respond) -> AsyncGenerator[tuple[Channel, Channel]]:
    """Channels to two peers; the second one answers each request with success."""

    async def serve(stream: trio.abc.Stream, answer: Respond) -> None:
        decoder = CommandDecoder()
        try:
            while data := await stream.receive_some():
                decoder.feed(bytes(data))
                while (request := decoder.next_command()) is not None:
                    await stream.send_all(answer(request))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass

    pairs = [trio.testing.memory_stream_pair() for _ in range(2)]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, pairs[0][1], respond)
        nursery.start_soon(serve, pairs[1][1], lambda request: encode(answer_to(request)))
        async with (
            open_channel_over(pairs[0][0], peer="first", idle_timeout=None) as first,
            open_channel_over(pairs[1][0], peer="second", idle_timeout=None) as second,
        ):
            yield first, second
        nursery.cancel_scope.cancel()


async def test_the_largest_frame_is_taken_and_the_next_request_answered() -> None:
    def respond(request: RemotingCommand) -> bytes:
        size = MAX_FRAME_LENGTH - len(encode(answer_to(request)))
        return encode(answer_to(request, body=bytes(size)))

    async with two_channels(respond) as (channel, _):
        for _ in range(2):
            body = (await channel.request(ASK)).body or b""
            assert len(body) > MAX_FRAME_LENGTH - 200


async def test_a_value_of_megabytes_in_a_header_is_taken() -> None:
    fields = {"value": "\u6f22" * 1_048_576}  # the longest KV value, of letters of three bytes

    def respond(request: RemotingCommand) -> bytes:
        return encode(answer_to(request, ext_fields=fields))

    async with two_channels(respond) as (channel, _):
        for _ in range(2):
            assert (await channel.request(ASK)).ext_fields == fields


@pytest.mark.parametrize("count", [30, MAX_EXT_FIELDS])
async def test_a_binary_header_may_have_more_fields_than_any_request_has(count: int) -> None:
    fields = {f"field-{number}": "value" for number in range(count)}

    def respond(request: RemotingCommand) -> bytes:
        form = SerializeType.ROCKETMQ
        return encode(answer_to(request, ext_fields=fields, serialize_type=form))

    async with two_channels(respond) as (channel, _):
        for _ in range(2):
            assert (await channel.request(ASK)).ext_fields == fields


HEADER = JSON_START % 1
REFUSED: dict[str, tuple[bytes, type[DecodeError]]] = {
    "frame": (pack(">II", MAX_FRAME_LENGTH - 3, 10), FrameTooLargeError),
    "header": (pack(">II", MAX_FRAME_LENGTH - 4, MAX_HEADER_LENGTH + 1), HeaderTooLargeError),
    "fields of a binary header": (
        encode(
            RemotingCommand(
                code=0,
                flag=CommandFlag.RESPONSE,
                ext_fields={f"{number}": "" for number in range(MAX_EXT_FIELDS + 1)},
                serialize_type=SerializeType.ROCKETMQ,
            )
        ),
        LimitExceededError,
    ),
    "values of a JSON header": (
        frame_header(
            HEADER + b"{%b}}" % b",".join(b'"%d":"1"' % number for number in range(65_536))
        ),
        LimitExceededError,
    ),
    "values of an odd JSON header": (
        frame_header(HEADER + b"{%b}}" % b",".join(b'"%d":%d' % (n, n) for n in range(1_024))),
        LimitExceededError,
    ),
    "bytes of an odd JSON header": (
        frame_header(HEADER + b'{"a":1,"b":"%b"}}' % (b"x" * 65_536)),
        LimitExceededError,
    ),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_what_is_beyond_ends_its_connection_and_no_other(what: str) -> None:
    data, error = REFUSED[what]

    async with two_channels(lambda _: data) as (first, second):
        with pytest.raises(ChannelError) as caught:
            await first.request(ASK)
        assert isinstance(caught.value.__cause__, error)
        for _ in range(2):
            assert (await second.request(ASK)).code == 0


@pytest.mark.parametrize("texts", [True, False], ids=["texts", "numbers"])
def test_a_json_header_of_another_language_with_thirty_fields_is_read(texts: bool) -> None:
    """Java and the clients in C++, Go and Rust write texts; a script may write numbers."""
    values = [b'"%d"' % n if texts else b"%d" % n for n in range(30)]
    fields = b",".join(b'"field%d":%b' % (number, value) for number, value in enumerate(values))

    command = decode(frame_header(JSON_START % 7 + b"{%b}}" % fields))

    assert command.ext_fields == {f"field{number}": str(number) for number in range(30)}


async def test_one_request_too_many_is_refused_and_the_others_are_answered() -> None:
    assert DEFAULT_MAX_IN_FLIGHT > 10_000
    ours, theirs = trio.testing.memory_stream_pair()
    codes: list[int] = []
    async with open_channel_over(ours, max_in_flight=2, idle_timeout=None) as channel:

        async def ask() -> None:
            codes.append((await channel.request(ASK)).code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(LocalProtocolError):
                await channel.request(ASK)
            decoder = CommandDecoder()
            decoder.feed(bytes(await theirs.receive_some()))
            while (request := decoder.next_command()) is not None:
                await theirs.send_all(encode(answer_to(request)))
    assert codes == [0, 0]
