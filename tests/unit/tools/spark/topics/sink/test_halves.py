"""Half messages, packed for the driver."""

from __future__ import annotations

from rocketwire.wire.message.host import Host
from rocketwire.wire.message.ids import create_offset_message_id
from rocketwire_tools.spark.topics.sink.halves import Half, Halves, unpack


def message_id(offset: int) -> str:
    return create_offset_message_id(Host.of(b"\x7f\x00\x00\x01", 10911), offset)


def test_the_driver_gets_the_half_messages_of_a_task() -> None:
    halves = Halves()
    halves.add("a", "broker-a", "K1", 5, message_id(1 << 40))
    halves.add("b", "broker-a", "K2", 6, message_id(7))
    halves.add("a", "broker-a", "K3", 7, message_id(8))

    assert list(unpack(halves.pack())) == [
        Half("a", "broker-a", "K1", 5, 1 << 40),
        Half("a", "broker-a", "K3", 7, 8),
        Half("b", "broker-a", "K2", 6, 7),
    ]


def test_a_task_without_rows_has_none() -> None:
    assert Halves().pack() == b""
    assert list(unpack(b"")) == []
