"""Ordinary messages of producers in files that have rolled: the kind ``plain``."""

from typing import Final

from rocketwire.client import Message, ProducerConfig, open_producer
from rocketwire.wire.message.body_compression import CompressionType, compress_body
from tests.peers.peers import OLD
from tests.support.stores.cluster import PATIENCE, Session
from tests.support.stores.sending import NEVER, Sender, noise_body, text_body

ORDERS: Final = "orders"
BILLS: Final = "bills"
LEDGER: Final = "ledger"
EMPTY: Final = "empty"
LONGEST: Final = "longest_" + "n" * 119
"""127 characters."""

TOPICS: Final = {ORDERS: 4, BILLS: 2, LEDGER: 1, EMPTY: 2, LONGEST: 1}
GROUPS: Final = ("auditors", "printers")
TAGS: Final = ("new", "paid", "Aa", "BB", "größe", None)
"""Two of them have the same hash code."""


async def fill(session: Session, sender: Sender, release: str) -> None:
    for topic, queues in TOPICS.items():
        await session.create_topic(topic, queues)
    await _send_orders(sender)
    await _send_bodies(sender, release)
    await _send_batches(sender)
    await _send_raw(sender)
    await _send_ledger(sender)
    for group in GROUPS:
        await session.create_group(group)
        for topic, queues in ((ORDERS, 4), (BILLS, 2)):
            for queue_id in range(queues):
                offset = 3 * queue_id + len(group) - 7
                await session.client.brokers.update_consumer_offset(
                    session.address, group, sender.queue(topic, queue_id), offset
                )


async def _send_orders(sender: Sender) -> None:
    await sender.send_all(
        (
            Message(
                ORDERS,
                text_body(20 + number * 7 % 300, number),
                tags=TAGS[number % len(TAGS)],
                keys=_keys(number),
                flag=(0, 1, -1, 2**31 - 1, -(2**31))[number % 5],
                properties=_properties(number),
            )
            for number in range(96)
        ),
        range(4),
    )


def _keys(number: int) -> tuple[str, ...]:
    choices: tuple[tuple[str, ...], ...] = (
        (),
        (f"order-{number}",),
        (f"order-{number}", "shared"),
        ("twice", "twice"),
        ("schlüssel-ß", "鍵", "🔑"),
    )
    return choices[number % len(choices)]


def _properties(number: int) -> dict[str, str]:
    choices: tuple[dict[str, str], ...] = (
        {},
        {"region": "north", "amount": str(number)},
        {"städte": "Zürich, 東京, 🏙", "a b": "c=d;e"},
        {"long": "x" * 3000 if number % 24 == 3 else "x" * 40},
    )
    return choices[number % len(choices)]


async def _send_bodies(sender: Sender, release: str) -> None:
    compressions = [CompressionType.ZLIB]
    if release != OLD:
        compressions += [CompressionType.LZ4, CompressionType.ZSTD]
    for compression in compressions:
        messages = (
            Message(
                BILLS,
                text_body(size, size),
                tags=compression.name,
                keys=(f"{compression.name}-{size}",),
            )
            for size in (1024, 5000, 60_000)
        )
        await sender.send_all(messages, (0, 1), compression=compression)
    sizes = (1, 2, 90_000, 100_000, 120_000, 131_072, 150_000, 99_999, 110_000, 140_000)
    large_messages = (
        Message(BILLS, text_body(size, size), keys=(f"large-{size}",)) for size in sizes
    )
    await sender.send_all(large_messages, (1, 0))
    noise_messages = (Message(BILLS, noise_body(size, size), tags="noise") for size in (300, 9_000))
    await sender.send_all(noise_messages, (0, 1))


async def _send_batches(sender: Sender) -> None:
    """Client batches, which become single messages; the largest begin new files."""
    for size, length in ((1, 30), (10, 50), (32, 120), (3, 45_000), (3, 50_000)):
        messages = [
            Message(
                ORDERS,
                text_body(length, number),
                tags=TAGS[number % len(TAGS)],
                keys=(f"batch-{size}-{length}-{number}",),
                properties={"number": str(number)},
            )
            for number in range(size)
        ]
        await sender.send_batch(messages, size % 4)


async def _send_raw(sender: Sender) -> None:
    empty_key = "UNIQ_KEY\x01{}\x02KEYS\x01\x02TAGS\x01\x02WAIT\x01true\x02"
    await sender.send_raw(LEDGER, b"empty keys and tags", empty_key.format("0" * 31 + "1"))
    await sender.send_raw(LEDGER, b"blank keys", "KEYS\x01   \x02")
    await sender.send_raw(LEDGER, b"no properties", "")
    await sender.send_raw(LEDGER, b"no end", "TAGS\x01t\x02KEYS\x01open-end")
    await sender.send_raw(LEDGER, b"twice", "color\x01red\x02color\x01blue\x02KEYS\x01colors\x02")
    await sender.send_raw(LEDGER, b"born long ago", "KEYS\x01old\x02", born=1)
    body = text_body(3000)
    packed = compress_body(body, CompressionType.ZLIB)
    await sender.send_raw(LEDGER, packed, "KEYS\x01old-zlib\x02", sys_flag=1, whole=body)
    magic = bytes.fromhex("daa320a7")
    await sender.send_raw(LEDGER, magic * 40, "KEYS\x01magics\x02")
    await sender.send_raw(LEDGER, bytes(500), "KEYS\x01zeros\x02")


async def _send_ledger(sender: Sender) -> None:
    ledger = (
        Message(LEDGER, text_body(60, number), tags="entry", keys=(f"ledger-{number}",))
        for number in range(55)
    )
    await sender.send_all(ledger)
    longest = (Message(LONGEST, b"%d" % number, keys=("longest",)) for number in range(3))
    await sender.send_all(longest)
    config = ProducerConfig(send_msg_timeout=PATIENCE, compress_msg_body_over_howmuch=NEVER)
    async with open_producer(sender.session.client, "stores", config) as producer:
        for number in range(8):
            queues = await producer.queues(ORDERS)
            key = f"customer-{number % 3}"
            message = Message(ORDERS, b"%d" % number, keys=(key,), sharding_key=key)
            await sender.send_by(producer, message, queues[number % 3])
