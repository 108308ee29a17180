import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from rocketwire_tools.cli.command import RefusedError
from rocketwire_tools.cli.stdio import CHECK_SECONDS, MAX_LINE, MAX_WRITE, JsonLines, read_lines


class Pipe:
    """Both ends; each may be closed more than once."""

    def __init__(self) -> None:
        reader, writer = os.pipe()
        self._files = {reader: open(reader, "rb"), writer: open(writer, "wb")}  # noqa: SIM115 - ended by close
        self.reader, self.writer = reader, writer

    def close(self, *ends: int) -> None:
        for end in ends:
            self._files[end].close()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.close(pipe.reader, pipe.writer)


async def test_lines_come_as_they_are_written(pipe: Pipe) -> None:
    os.write(pipe.writer, b"one\ntwo\nth")
    lines = read_lines(pipe.reader)

    assert [b"one", b"two"] == await anext(lines)
    os.write(pipe.writer, b"ree\n\nfour")
    assert [b"three", b""] == await anext(lines)
    pipe.close(pipe.writer)
    assert [[b"four"]] == [block async for block in lines]


async def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"one\n" + b"x" * (MAX_LINE + 1))

    with path.open("rb") as file:
        lines = read_lines(file.fileno())
        assert [b"one"] == await anext(lines)
        with pytest.raises(RefusedError):
            await anext(lines)


async def test_long_line_waits_for_its_reader(pipe: Pipe) -> None:
    reader, writer = pipe.reader, pipe.writer
    text = "é" * (1 << 18)
    read = bytearray()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(JsonLines(writer).write, {"text": text})
        while not read.endswith(b"\n"):
            await trio.testing.wait_all_tasks_blocked()
            read += os.read(reader, 1 << 16)

    assert len(read) > 64 * MAX_WRITE
    assert {"text": text} == json.loads(read)


async def test_a_file_takes_everything(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w+b") as file:
        lines = JsonLines(file.fileno())
        await lines.write({"a": 1})
        await lines.write({"a": None})

    assert '{"a":1}\n{"a":null}\n' == (tmp_path / "out").read_text()


async def test_lost_reader_is_noticed(pipe: Pipe, autojump_clock: trio.testing.MockClock) -> None:
    reader, writer = pipe.reader, pipe.writer
    lines = JsonLines(writer)

    with trio.move_on_after(10 * CHECK_SECONDS) as still_there:
        await lines.until_reader_closes()
    pipe.close(reader)
    await lines.until_reader_closes()

    assert still_there.cancelled_caught
    with pytest.raises(BrokenPipeError):
        await lines.write({"a": 1})
