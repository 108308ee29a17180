"""What hostile bytes cost: for each input the error, the milliseconds until it is raised, and the memory taken meanwhile.

Run it with ``python -m bench.hostile``.  Every input is tried in a fresh process, whose peak of resident memory is compared
with what it was once the input had been made.
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
from rocketwire.messages import decode_body
from rocketwire.messages.registration import decode_register_broker_body
from rocketwire.messages.route import TopicRouteData
from rocketwire.wire.frame import MAX_FRAME_LENGTH
from rocketwire.wire.stored import decode_stored_messages

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


def _stored(body_length: int) -> bytes:
    head = (
        bytes.fromhex("daa320a7")
        + bytes(76)
        + body_length.to_bytes(4, "big", signed=True)
        + b"\x01T\x00\x00"
    )
    return (len(head) + 4).to_bytes(4, "big") + head


def _packed(plain: bytes) -> bytes:
    return zlib.compress(plain, 9)


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
    "16 MiB binary header of empty ext fields": (
        lambda: _frame(
            bytes(13) + bytes(4) + (ROOM - 21).to_bytes(4, "big") + bytes(ROOM - 21), b"", 1
        ),
        decode,
    ),
    "header of 100,000 [": (lambda: _frame(b'{"x":' + b"[" * 100_000), decode),
    "header with an integer of 5,000 digits": (
        lambda: _frame(b'{"opaque":' + b"9" * 5_000 + b"}"),
        decode,
    ),
    "frame of 2^31-1 bytes": (lambda: b"\x7f\xff\xff\xff" + bytes(ROOM), _feed),
    "frame of negative length": (lambda: b"\xff\xff\xff\xff" + bytes(64), _feed),
    "16 MiB body of {}": (lambda: _filled(b'{"queueDatas":[', b"{},", b"{}]}"), _route),
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
    "stored message, body of 2^31-1 bytes": (lambda: _stored(2**31 - 1), decode_stored_messages),
    "stored message, body of negative length": (lambda: _stored(-1), decode_stored_messages),
}


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def attempt(name: str) -> None:
    """Try one input in this process and print what came of it."""
    make, read = CASES[name]
    data = make()
    before = max(_peak(), len(data) // 1024)
    start = time.perf_counter()
    try:
        read(data)
        outcome = "ACCEPTED"
    except DecodeError as error:
        outcome = f"{type(error).__name__}: {error}"
    milliseconds = (time.perf_counter() - start) * 1e3
    print(f"{name:48} {milliseconds:8.2f} ms {(_peak() - before) / 1024:7.1f} MiB  {outcome[:100]}")


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
