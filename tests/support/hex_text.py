"""Bytes as text for a diff: hex digits, and a ``#`` comment that names them.

Rules of this file: reading looks at hex digits alone; writing knows the layout of a frame by itself, from the protocol's
description, so that it can show a frame that the codec under test cannot read.
"""

import struct
from collections.abc import Iterator

WIDTH = 32
"""Bytes on one line of text."""


def parse(text: str) -> bytes:
    """Read hex digits; blanks, line ends and everything from ``#`` to the end of a line mean nothing."""
    return bytes.fromhex("".join(line.partition("#")[0] for line in text.splitlines()))


def _line(data: bytes, comment: str) -> str:
    return f"{data.hex()}  # {comment}".rstrip()


def _printable(data: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)


def _block(data: bytes, comment: str) -> Iterator[str]:
    for start in range(0, len(data), WIDTH):
        piece = data[start : start + WIDTH]
        yield _line(piece, f"{comment}: {_printable(piece)}" if comment else _printable(piece))


def _number(data: bytes, name: str) -> str:
    return _line(data, f"{name} {int.from_bytes(data, 'big', signed=len(data) == 4)}")


def _binary_entries(data: bytes) -> Iterator[str]:
    start = 0
    while start < len(data):
        key_end = start + 2 + struct.unpack_from(">H", data, start)[0]
        value_end = key_end + 4 + struct.unpack_from(">I", data, key_end)[0]
        yield _number(data[start : start + 2], "key length")
        yield from _block(data[start + 2 : key_end], "key")
        yield _number(data[key_end : key_end + 4], "value length")
        yield from _block(data[key_end + 4 : value_end], "value")
        start = value_end


def _binary_header(header: bytes) -> Iterator[str]:
    for start, end, name in (
        (0, 2, "code"),
        (2, 3, "language"),
        (3, 5, "version"),
        (5, 9, "opaque"),
        (9, 13, "flag"),
        (13, 17, "remark length"),
    ):
        yield _number(header[start:end], name)
    remark_end = 17 + struct.unpack_from(">I", header, 13)[0]
    yield from _block(header[17:remark_end], "remark")
    yield _number(header[remark_end : remark_end + 4], "extFields length")
    yield from _binary_entries(header[remark_end + 4 :])


def frame_text(frame: bytes, title: str) -> str:
    header_length = int.from_bytes(frame[5:8], "big")
    header, body = frame[8 : 8 + header_length], frame[8 + header_length :]
    lines = [
        f"# {title}",
        _number(frame[:4], "length"),
        _line(frame[4:5], "header type: " + ("ROCKETMQ" if frame[4] else "JSON")),
        _number(frame[5:8], "header length"),
        *(_binary_header(header) if frame[4] else _block(header, "")),
    ]
    if body:
        lines += [f"# body, {len(body)} bytes", *_block(body, "")]
    return "\n".join(lines) + "\n"
