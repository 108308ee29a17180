"""Blocks of pcapng are those that one chain leads to; damaged sections, interfaces and blocks are errors."""

import random
import struct
from pathlib import Path

import pytest

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.inputs import open_input
from rocketwire_tools.pcap.files.reader import CaptureReader

Packet = tuple[int, int, int, int, int]
"""Offset of the block, captured and sent bytes, time, link type."""


def block(order: str, number: int, body: bytes) -> bytes:
    size = 12 + len(body) + -len(body) % 4
    return (
        struct.pack(f"{order}II", number, size)
        + body.ljust(size - 12, b"\0")
        + struct.pack(f"{order}I", size)
    )


def section(order: str = "<") -> bytes:
    return block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(order: str = "<", link: int = 1, resolution: int = 6, snaplen: int = 0) -> bytes:
    options = struct.pack(f"{order}HHB3xI", 9, 1, resolution, 0)
    return block(order, 1, struct.pack(f"{order}HHI", link, 0, snaplen) + options)


def packet(order: str = "<", number: int = 0, ticks: int = 1, data: bytes = b"") -> bytes:
    head = struct.pack(
        f"{order}5I", number, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data) + 5
    )
    return block(order, 6, head + data)


def find_packets(path: Path) -> tuple[list[Packet], CaptureError | None]:
    """All packets, and the error that ended the reading."""
    source = open_input(str(path))
    packets: list[Packet] = []
    try:
        for batch in CaptureReader(str(path), source):
            links = (
                [batch.link] * len(batch.file_offset)
                if isinstance(batch.link, int)
                else batch.link.tolist()
            )
            columns = (batch.file_offset, batch.captured, batch.wire, batch.time_ns)
            packets += zip(*(column.tolist() for column in columns), links, strict=True)
    except CaptureError as error:
        return packets, error
    finally:
        source.close()
    return packets, None


def sections(chance: random.Random, size: int, maximum: int) -> tuple[bytes, list[Packet]]:
    """Sections of several interfaces and byte orders with blocks of all kinds, and the packets in them."""
    data, packets = bytearray(), list[Packet]()
    while len(data) < size:
        order = chance.choice("<>")
        links = [(chance.choice((1, 101, 276)), chance.choice((3, 6, 9))) for _ in range(3)]
        data += section(order) + b"".join(interface(order, *link, 64) for link in links)
        for ticks in range(chance.randrange(maximum)):
            text = chance.randbytes(16) * chance.choice((0, 1, 5, 90))
            share, (link, unit) = chance.random(), links[number := chance.randrange(3)]
            offset, time_ns = len(data), ticks * 10 ** (9 - unit)
            if share < 0.8:
                data += packet(order, number, ticks, text)
                packets.append((offset, len(text), len(text) + 5, time_ns, link))
            elif share < 0.9:
                data += block(order, 3, struct.pack(f"{order}I", len(text)) + text[:64])
                packets.append((offset, min(len(text), 64), len(text), 0, links[0][0]))
            elif share < 0.95:
                head = struct.pack(f"{order}HH4I", number, 0, 0, ticks, len(text), len(text))
                data += block(order, 2, head + text)
                packets.append((offset, len(text), len(text), time_ns, link))
            else:
                data += block(order, 0xBAD, packet(order) * chance.randrange(60))
    return bytes(data), packets


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("maximum", [3, 400, 40_000])
def test_all_packets_of_all_sections_are_found(seed: int, maximum: int, tmp_path: Path) -> None:
    data, packets = sections(random.Random(seed), 4 << 20, maximum)
    path = tmp_path / "many.pcapng"
    path.write_bytes(data)
    assert (packets, None) == find_packets(path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (struct.pack("<III", 6, 0xFFFFFFFC, 0), "a block claims 4294967292 bytes"),
        (struct.pack("<III", 77, 0xFFFFFFFF, 0), "a block of 4294967295 bytes"),
        (struct.pack("<III", 6, 16, 0), "a block of 16 bytes"),
        (packet(number=1), "not described"),
        (packet(data=b"x" * 8)[:20] + b"\xff" * 4 + packet(data=b"x" * 8)[24:], "longer than its block"),
        (section()[:8] + bytes(20), "byte-order magic"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("count", [1, 60_000])
def test_packets_before_damage_are_read(
    count: int, damage: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "damaged.pcapng"
    path.write_bytes(section() + interface() + packet() * count + damage + packet() * 9)
    packets, error = find_packets(path)
    assert count == len(packets)
    assert error is not None
    assert message in str(error)


def test_more_interfaces_than_a_section_may_have_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("rocketwire_tools.pcap.files.pcapng_blocks.MAX_INTERFACES", 3)
    path = tmp_path / "interfaces.pcapng"
    path.write_bytes(section() + interface() * 3 + packet(number=2) + interface() + packet())
    packets, error = find_packets(path)
    assert len(packets) == 1
    assert "a section of more than 3 interfaces" in str(error)


def test_block_beyond_the_end_of_the_file_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "cut.pcapng"
    path.write_bytes(section() + interface() + packet() + struct.pack("<III", 77, 0xFFFFFFFC, 0))
    source = open_input(str(path))
    reader = CaptureReader(str(path), source)
    assert [1] == [len(batch.file_offset) for batch in reader]
    assert reader.truncated
    source.close()


def test_many_sections_take_little_time(tmp_path: Path) -> None:
    path = tmp_path / "sections.pcapng"
    part = section() + interface() + packet()
    path.write_bytes(part * 100_000)
    packets, error = find_packets(path)
    assert (100_000, None) == (len(packets), error)
    assert [i * len(part) + 48 + 12 for i in range(3)] == [offset for offset, *_ in packets[:3]]
