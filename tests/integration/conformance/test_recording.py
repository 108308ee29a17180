"""``record`` and ``replay``: what a tap writes down, and what a replay finds in another server."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire_tools.conformance.arguments import address
from rocketwire_tools.conformance.compare.recording import (
    Event,
    FrameSplitter,
    RecordingProxy,
    read,
    write,
)
from rocketwire_tools.conformance.compare.replay import replay
from rocketwire_tools.conformance.model.ports import free_port
from tests.integration.conformance.servers import (
    answers_rubbish,
    closes_at_once,
    listening,
    status_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
    from pathlib import Path

    from rocketwire_tools.conformance.compare.diff import Difference

    Handler = Callable[[trio.SocketStream], Awaitable[object]]

ROUTE = b'{"brokerDatas":[1,2]}'


def answering(
    *, code: int = 0, remark: str | None = None, body: bytes = ROUTE, late: bool = False
) -> Handler:
    """A server that answers every request; with ``late`` in pairs, the second first."""

    async def serve(stream: trio.SocketStream) -> None:
        decoder = CommandDecoder()
        waiting: list[bytes] = []
        async for data in stream:
            decoder.feed(bytes(data))
            while (request := decoder.next_command()) is not None:
                answer = RemotingCommand(
                    code=code, flag=1, remark=remark, body=body, opaque=request.opaque
                )
                waiting.insert(0, encode(answer))
                if not late or len(waiting) == 2:
                    await stream.send_all(b"".join(waiting))
                    waiting.clear()

    return serve


async def silent(stream: trio.SocketStream) -> None:
    async for _ in stream:
        pass


def chatty(handler: Handler) -> Handler:
    """A server that also asks something when a connection is opened."""

    async def serve(stream: trio.SocketStream) -> None:
        await stream.send_all(encode(RemotingCommand(code=40, opaque=99)))
        await handler(stream)

    return serve


REQUESTS = [encode(RemotingCommand(code=105, opaque=number)) for number in (1, 2)]


@asynccontextmanager
async def tapping(target: str, sink: io.StringIO) -> AsyncGenerator[str]:
    tap = RecordingProxy(address(target), sink)
    async with listening(tap.serve) as at:
        yield at


async def ask(at: str, requests: Sequence[bytes] = REQUESTS) -> None:
    """A client that sends everything at once and leaves after all answers."""
    place = address(at)
    async with await trio.open_tcp_stream(place.host, place.port) as stream:
        await stream.send_all(b"".join(requests))
        decoder = CommandDecoder()
        missing = len(requests)
        while missing and (data := await stream.receive_some()):
            decoder.feed(bytes(data))
            while (command := decoder.next_command()) is not None:
                missing -= command.is_response


async def recorded(handler: Handler, clients: int = 1) -> list[Event]:
    sink = io.StringIO()
    async with listening(handler) as server, tapping(server, sink) as at:
        for _ in range(clients):
            await ask(at)
        await written(sink, ends=2 * clients)
    return read(sink.getvalue())


async def written(sink: io.StringIO, ends: int) -> None:
    """Until both sides of the connections have ended."""
    with trio.fail_after(60):
        while sink.getvalue().count('"end"') < ends:
            await trio.sleep(0.005)


async def differences(
    events: list[Event], handler: Handler, patience: float = 1.0
) -> list[Difference]:
    async with listening(handler) as server:
        return (await replay(events, address(server), patience=patience)).differences


async def test_a_tap_writes_down_what_each_side_says() -> None:
    events = await recorded(answering(), clients=2)

    for number in (1, 2):
        own = [event for event in events if event.connection == number]
        assert ("client", "open") == (own[0].side, own[0].what)
        said = [event.data for event in own if (event.side, event.what) == ("client", "frame")]
        assert said == REQUESTS
        assert [event.what for event in own if event.side == "server"] == ["frame", "frame", "end"]
    moments = [event.seconds for event in events]
    assert moments == sorted(moments)


def test_a_line_that_was_written_is_read_again() -> None:
    events = [Event(1, 0.25, "client", "open"), Event(2, 1.5, "server", "bytes", b"\x00\xff")]

    assert read("\n".join(map(write, events))) == events


@pytest.mark.parametrize("pieces", [1, 3, 1000])
def test_frames_are_cut_wherever_they_come_apart(pieces: int) -> None:
    data = REQUESTS[0] + REQUESTS[1] + b"\x00\x00"
    splitter = FrameSplitter()
    result = [
        one for at in range(0, len(data), pieces) for one in splitter.split(data[at : at + pieces])
    ]

    assert [*result, *splitter.remainder()] == [
        ("frame", REQUESTS[0]),
        ("frame", REQUESTS[1]),
        ("bytes", b"\x00\x00"),
    ]


def test_after_what_is_no_frame_everything_is_bytes() -> None:
    splitter = FrameSplitter()

    assert [*splitter.split(REQUESTS[0] + b"GET / HTTP/1.1")] == [
        ("frame", REQUESTS[0]),
        ("bytes", b"GET / HTTP/1.1"),
    ]
    assert [*splitter.split(REQUESTS[1])] == [("bytes", REQUESTS[1])]
    assert [*splitter.remainder()] == []


@pytest.mark.parametrize("late", [False, True])
async def test_a_server_that_does_the_same_has_no_differences(late: bool) -> None:
    events = await recorded(chatty(answering(body=b'{"brokerDatas":[2,1]}')), clients=2)

    assert await differences(events, chatty(answering(late=late))) == []


@pytest.mark.parametrize(
    ("other", "result"),
    [
        (answering(code=17), ["code"] * 2),
        (answering(remark="sorry"), ["remark"] * 2),
        (answering(body=b"{}"), ["body"] * 2),
        (closes_at_once, ["what"]),
        (chatty(answering()), ["what"]),
    ],
)
async def test_what_another_server_does_otherwise_is_found(
    other: Handler, result: list[str]
) -> None:
    events = await recorded(answering())

    seen = await differences(events, other)
    assert [one.field for one in seen] == result
    assert {one.case for one in seen} == {"connection/1"}


async def test_a_server_that_says_nothing_is_silent_once_for_each_answer() -> None:
    seen = await differences(await recorded(answering()), silent, patience=0.02)

    assert [("response", "silence")] * 2 == [(one.first, one.second) for one in seen]


@pytest.mark.slow
async def test_an_answer_to_what_had_none_is_found() -> None:
    events = [
        Event(1, 0.0, "client", "open"),
        Event(1, 0.1, "client", "frame", REQUESTS[0]),
        Event(1, 0.2, "client", "end"),
    ]

    (seen,) = await differences(events, answering(), patience=5.0)
    assert ("surplus", "silence", "response") == (seen.step, seen.first, seen.second)


@pytest.mark.slow
async def test_a_server_that_answers_rubbish_is_told_from_one_that_answers() -> None:
    events = await recorded(answering())

    seen = await differences(events, answers_rubbish, patience=0.1)
    assert ("silence", "rubbish") in [(one.first, one.second) for one in seen]


async def test_bytes_are_compared_where_that_is_asked_for() -> None:
    events = await recorded(answering(body=b'{"a":[1,2]}'))
    async with listening(answering(body=b'{"a":[2,1]}')) as server:
        done = await replay(events, address(server), exact=True)

    assert [one.field for one in done.differences] == ["bytes", "bytes"]


async def test_the_command_tells_what_is_known_and_what_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, known, result = (tmp_path / name for name in ("file.jsonl", "known.toml", "found.json"))
    file.write_text("\n".join(map(write, await recorded(answering()))))
    known.write_text(
        '[[difference]]\ncase = "connection"\nfields = ["remark"]\nreason = "on purpose"'
    )
    words = ("replay", str(file))
    async with listening(answering(remark="new")) as server:
        assert await status_of(*words, server, "--json", str(result)) == 1
        assert await status_of(*words, server, "--known", str(known)) == 0

    details = capsys.readouterr().out
    assert (
        "DIFFERENT connection/1 (line 4, response to 105) remark\n    A None\n    B 'new'"
        in details
    )
    assert "known     connection/1 (line 4, response to 105) remark: on purpose" in details
    assert len(json.loads(result.read_text())["unexplained"]) == 2


async def test_a_replay_names_what_it_leaves_in_the_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = {"namespace": "n", "key": "k", "value": "v"}
    sent: list[tuple[int, dict[str, str]]] = [
        (100, entry),
        (100, {**entry, "key": "gone"}),
        (102, {**entry, "key": "gone"}),
        (217, {"topic": "t"}),
        (217, {"topic": "gone"}),
        (216, {"topic": "gone"}),
        (318, {}),
        (105, {"topic": "t"}),
    ]
    events = [Event(1, 0.0, "client", "open")]
    for number, (code, fields) in enumerate(sent):
        request = RemotingCommand(code=code, opaque=number, ext_fields=fields)
        events.append(Event(1, 0.0, "client", "frame", encode(request)))
    file = tmp_path / "file.jsonl"
    file.write_text("\n".join(map(write, events)))

    async with listening(answering()) as at:
        await status_of("replay", str(file), at, "--patience", "0.1")

    lines = capsys.readouterr().out.splitlines()
    left = [line.partition("leaves behind: ")[2] for line in lines if "leaves behind" in line]
    assert left == ["KV entry 'k' of namespace 'n'", "topic 't'", "a change of the configuration"]


async def test_a_replay_to_nobody_and_one_of_nothing_end_with_their_statuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, wrong = tmp_path / "file.jsonl", tmp_path / "wrong.jsonl"
    file.write_text(write(Event(1, 0.0, "client", "open")))
    wrong.write_text('{"connection": 1, "seconds": 0, "from": "nobody", "what": "open"}')

    assert await status_of("replay", str(file), f"127.0.0.1:{free_port()}") == 3
    assert await status_of("replay", str(wrong), "127.0.0.1:1") == 2
    assert "line 1 is not part of a recording" in capsys.readouterr().err


def started(*words: str) -> subprocess.Popen[bytes]:
    program = [sys.executable, "-m", "rocketwire_tools.conformance"]
    return subprocess.Popen([*program, *words], stdout=subprocess.PIPE)


@pytest.mark.process
@pytest.mark.slow
async def test_the_command_records_until_it_is_ended(tmp_path: Path) -> None:
    file, listen = tmp_path / "file.jsonl", f"127.0.0.1:{free_port()}"
    async with listening(answering()) as server:
        with started("record", "--listen", listen, "--target", server, "-o", str(file)) as process:
            assert process.stdout is not None
            line = await trio.to_thread.run_sync(process.stdout.readline)
            assert line.startswith(f"{listen} forwards to {server}".encode())
            await ask(listen)
            process.send_signal(signal.SIGTERM)
            assert await trio.to_thread.run_sync(process.wait) == 0

    sides = [event.side for event in read(file.read_text()) if event.what == "frame"]
    assert sorted(sides) == ["client", "client", "server", "server"]
