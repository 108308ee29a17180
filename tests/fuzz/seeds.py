"""Seeds: headers and bodies of the recorded frames, and a few values of each layout."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from rocketwire.wire.message.batch import BatchMessage, encode_batch
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support import hex_text

FIXTURES = Path(__file__).parents[1] / "fixtures"

NINES = b"9" * 5000
"""More digits than Python converts."""


@cache
def frames() -> tuple[bytes, ...]:
    return tuple(
        hex_text.parse(path.read_text("utf-8")) for path in sorted(FIXTURES.rglob("*.hex"))
    )


def _complete_frames() -> Iterator[tuple[int, bytes, bytes]]:
    for frame in frames():
        size = int.from_bytes(frame[5:8], "big")
        if len(frame) >= 8 + size:
            yield frame[4], frame[8 : 8 + size], frame[8 + size :]


def headers(number: int) -> list[bytes]:
    return sorted({header for form, header, _ in _complete_frames() if form == number})


def json_bodies() -> list[bytes]:
    unusual = (
        b'{{"a":1}:2,3:4}',
        b'{"a":{"$ref":"$"},b:\'c\',}',
        b"[NaN,1e400,0x1,1L,/**/true]",
        b'{"a":"\\ud83d\\ude80"}',
        b'{"brokerDatas":[{"brokerAddrs":{"%b":"a:1"}}]}' % NINES,
        b'{"queueDatas":[{"perm":"%b"}]}' % NINES,
    )
    return [*sorted({body for _, _, body in _complete_frames() if body.startswith(b"{")}), *unusual]


def registrations() -> list[bytes]:
    bodies = {
        body
        for _, _, body in _complete_frames()
        if body.startswith(b"x\xda") or b"topicConfigTable" in body
    }
    return [*sorted(bodies), b"{}", b"null"]


def message_seeds() -> list[bytes]:
    batch = encode_batch([BatchMessage(body=b"a", properties={"k": "v"}), BatchMessage(body=b"")])
    four, six = Host(bytes((10, 0, 0, 1)), 10911), Host(bytes(range(16)), 1)
    return [
        encode_stored_message(
            StoredMessage(
                topic="T", body=b"b", properties={"TAGS": "t"}, born_host=four, store_host=four
            )
        ),
        encode_stored_message(
            StoredMessage(topic="T" * 200, body=b"b", sys_flag=0x30, born_host=six, store_host=six)
        ),
        encode_stored_message(StoredMessage(topic="T", body=batch, sys_flag=0xC0)),
        encode_stored_message(
            StoredMessage(topic="T", body=b"abc" * 40, sys_flag=0x301), compress=True
        ),
        encode_stored_message(
            StoredMessage(topic="T", body=b"x\x9c\x03\x00\x00\x00\x00\x01", sys_flag=1)
        )
        * 2,
    ]
