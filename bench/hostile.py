"""The cost of hostile bytes: for each input the error, the milliseconds until it is raised, and the
memory.

Run it with ``python -m bench.hostile``.  Every input is decoded in a new process, whose peak of
resident memory is compared with the peak after creating the input.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
import zlib
from typing import TYPE_CHECKING, Final

from rocketwire import CommandDecoder, DecodeError, decode
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import decode_body
from rocketwire.messages.registration import decode_register_broker_body
from rocketwire.messages.route import TopicRouteData
from rocketwire.wire.frame import MAX_FRAME_LENGTH, MAX_HEADER_LENGTH
from rocketwire.wire.message.body_compression import CompressionType
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import (
    StoredMessage,
    encode_stored_message,
)

if TYPE_CHECKING:
    from collections.abc import Callable

ROOM: Final = MAX_FRAME_LENGTH - 8


def _frame(header: bytes, body: bytes = b"", header_type: int = 0) -> bytes:
    head = (
        (4 + len(header) + len(body)).to_bytes(4, "big")
        + bytes([header_type])
        + len(header).to_bytes(3, "big")
    )
    return head + header + body


def _filled(start: bytes, unit: bytes, end: bytes) -> bytes:
    """Almost 16 MiB of ``unit`` between start and end: the largest header of the largest frame."""
    room = ROOM - len(start) - len(end)
    return start + unit * (room // len(unit)) + end


def _binary(entries: bytes) -> bytes:
    return _frame(bytes(17) + len(entries).to_bytes(4, "big") + entries, b"", 1)


def _stored(body_length: int) -> bytes:
    head = (
        bytes.fromhex("daa320a7")
        + bytes(76)
        + body_length.to_bytes(4, "big", signed=True)
        + b"\x01T\x00\x00"
    )
    return (len(head) + 4).to_bytes(4, "big") + head


_SKIPPED: Final = bytes.fromhex("502a4d1800000000")
"""The shortest frame, which both LZ4 and ZSTD skip."""


def _compressed(body: bytes, compression: CompressionType) -> bytes:
    flags = MessageSysFlag.COMPRESSED | compression.sys_flag
    return encode_stored_message(StoredMessage(topic="T", body=body, sys_flag=int(flags)))


def _packed(data: bytes) -> bytes:
    return zlib.compress(data, 9)


def _packed_bomb() -> bytes:
    packer = zlib.compressobj(9)
    piece = bytes(1 << 20)
    return b"".join([*(packer.compress(piece) for _ in range(256)), packer.flush()])


def _feed(data: bytes) -> object:
    decoder = CommandDecoder()
    decoder.feed(data)
    return decoder.next_command()


def _register(data: bytes) -> object:
    return decode_register_broker_body(data, compressed=True, version=513)


def _route(data: bytes) -> object:
    return decode_body(TopicRouteData, data)


CASES: Final[dict[str, tuple[Callable[[], bytes], Callable[[bytes], object]]]] = {
    "16 MiB header of {}": (lambda: _frame(_filled(b'{"x":[', b"{},", b"{}]}")), decode),
    "16 MiB header of a million ext fields": (
        lambda: _frame(
            b'{"extFields":{' + b",".join(b'"%07d":""' % i for i in range(1_000_000)) + b"}}"
        ),
        decode,
    ),
    "16 MiB binary header of empty ext fields": (lambda: _binary(bytes(ROOM - 21)), decode),
    "4 MiB binary header of empty ext fields": (
        lambda: _binary(bytes(MAX_HEADER_LENGTH - 21)),
        decode,
    ),
    "16 MiB header of ext fields in escapes": (
        lambda: _frame(_filled(b'{"extFields":{', b'"\\u0041":"\\n",', b'"a":""}}')),
        decode,
    ),
    "16 MiB header of one long text": (
        lambda: _frame(_filled(b'{"remark":"', b"\xf0\x9f\x98\x80", b'"x')),
        decode,
    ),
    "4 MiB header of objects as ext fields": (
        lambda: _frame(_filled(b'{"extFields":{', b'"a":{},', b'"a":""}}')[:MAX_HEADER_LENGTH]),
        decode,
    ),
    "4 MiB header of comments": (
        lambda: _frame(_filled(b"{", b"//\n", b"}")[:MAX_HEADER_LENGTH]),
        decode,
    ),
    "header of 60,000 ext fields that are no text": (
        lambda: _frame(b'{"extFields":{%b}}' % b",".join(b'"%d":1e9' % i for i in range(60_000))),
        decode,
    ),
    "header of 100,000 {": (lambda: _frame(b'{"x":' * 100_000), decode),
    "header with the number 1e999999999": (lambda: _frame(b'{"code":1e999999999}'), decode),
    "binary header of keys in damaged UTF-8": (
        lambda: _binary(b"\0\2\xed\xa0\0\0\0\0" * 500_000),
        decode,
    ),
    "binary header, value of 2^31-1 bytes": (
        lambda: _binary(b"\0\1k\x7f\xff\xff\xff" + bytes(64)),
        decode,
    ),
    "binary header, key of negative length": (lambda: _binary(b"\xff\xff" + bytes(64)), decode),
    "header of 100,000 [": (lambda: _frame(b'{"x":' + b"[" * 100_000), decode),
    "header with an integer of 5,000 digits": (
        lambda: _frame(b'{"opaque":' + b"9" * 5_000 + b"}"),
        decode,
    ),
    "frame of 2^31-1 bytes": (lambda: b"\x7f\xff\xff\xff" + bytes(ROOM), _feed),
    "frame of negative length": (lambda: b"\xff\xff\xff\xff" + bytes(64), _feed),
    "16 MiB body of {}": (lambda: _filled(b'{"queueDatas":[', b"{},", b"{}]}"), _route),
    "16 MiB body of comments": (lambda: _filled(b"{", b"//\n", b""), _route),
    "16 MiB body of semicolons": (lambda: _filled(b"{", b";", b""), _route),
    "body of 440,000 {} and an error": (lambda: b'{"a":[' + b"{}," * 440_000 + b"x", _route),
    "body of 3,000 references to one list": (
        lambda: b'{"a":[%b0],"b":[%b0]}' % (b"0," * 1_000, b'{"$ref":"$.a"},' * 3_000),
        _route,
    ),
    "body with the number 1e999999999": (lambda: b'{"queueDatas":1e999999999}', _route),
    "body of 100,000 [": (lambda: b'{"queueDatas":' + b"[" * 100_000, _route),
    "body with an integer of 5,000 digits": (
        lambda: b'{"queueDatas":[{"perm":' + b"9" * 5_000 + b"}]}",
        _route,
    ),
    "packed registration, 256 MiB of zeros": (_packed_bomb, _register),
    "packed registration, topic of 2^31-1 bytes": (
        lambda: _packed(b"\0\0\0\2{}\0\0\0\1\x7f\xff\xff\xff" + bytes(64)),
        _register,
    ),
    "packed registration, 2^31-1 topics": (
        lambda: _packed(b"\0\0\0\2{}\x7f\xff\xff\xff" + bytes(64)),
        _register,
    ),
    "packed registration, topic of negative length": (
        lambda: _packed(b"\0\0\0\2{}\0\0\0\1\xff\xff\xff\xff" + bytes(64)),
        _register,
    ),
    "stored message, 256 MiB of zeros": (
        lambda: _compressed(_packed_bomb(), CompressionType.ZLIB),
        decode_stored_messages,
    ),
    "stored message, 1,000,000 empty frames of LZ4": (
        lambda: _compressed(_SKIPPED * 1_000_000, CompressionType.LZ4),
        decode_stored_messages,
    ),
    "stored message, 1,000,000 empty frames of ZSTD": (
        lambda: _compressed(_SKIPPED * 1_000_000, CompressionType.ZSTD),
        decode_stored_messages,
    ),
    "stored message, body of 2^31-1 bytes": (lambda: _stored(2**31 - 1), decode_stored_messages),
    "stored message, body of negative length": (lambda: _stored(-1), decode_stored_messages),
}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def attempt(name: str) -> None:
    """Try one input in this process and print what came of it."""
    make, read = CASES[name]
    data = make()
    peak_before = max(_peak(), len(data) // 1024)
    start = time.perf_counter()
    try:
        read(data)
        outcome = "ACCEPTED"
    except DecodeError as error:
        outcome = f"{type(error).__name__}: {error}"
    milliseconds = (time.perf_counter() - start) * 1e3
    print(
        f"{name:48} {milliseconds:8.2f} ms {(_peak() - peak_before) / 1024:7.1f} MiB "
        f" {outcome[:100]}"
    )


def main() -> None:
    if len(sys.argv) > 1:
        attempt(sys.argv[1])
        return
    for name in CASES:
        subprocess.run(
            [sys.executable, "-m", "bench.hostile", name], check=True, env=dict(os.environ)
        )


if __name__ == "__main__":
    main()
