"""``StoredMessageReader``: lazily read messages equal strictly decoded ones."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.layouts.fused import parse_stored_message_raw
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.lazy_reader import StoredMessageReader, decode_stored_messages
from rocketwire.wire.message.stored import StoredLimits, StoredMessage, encode_stored_message

FIRST = StoredMessage(
    topic="T",
    body=b"body",
    flag=1,
    properties={"TAGS": "a"},
    queue_id=2,
    queue_offset=3,
    commit_log_offset=4,
    body_crc=5,
    born_timestamp=6,
    born_host=Host.of(bytes((127, 0, 0, 1)), 7),
    store_timestamp=8,
    store_host=Host.of(bytes((127, 0, 0, 1)), 9),
    reconsume_times=10,
    prepared_transaction_offset=11,
)
OF_ONE_SIZE = (
    FIRST,
    replace(FIRST, queue_offset=1 << 40, commit_log_offset=1 << 50, reconsume_times=-1),
    replace(FIRST, properties={"TAGS": "b"}),
    replace(FIRST, body=b"bod", properties={"TAGS": "ab"}),
    replace(FIRST, topic="U"),
    replace(FIRST, topic="TT", body=b"bod"),
    replace(FIRST, born_host=Host.of(bytes((10, 0, 0, 1)), 7)),
    replace(FIRST, store_host=Host.of(bytes((10, 0, 0, 1)), 7)),
    replace(FIRST, sys_flag=int(MessageSysFlag.TRANSACTION_PREPARED)),
)
V6 = Host.of(bytes(15) + b"\x01", 7)
OTHERS = (
    FIRST,
    replace(FIRST, queue_offset=-1, flag=-1, body=None, properties=None),
    replace(FIRST, topic="U"),
    replace(FIRST, topic="TT"),
    replace(FIRST, topic=128 * "T"),
    replace(FIRST, born_host=Host.of(bytes((10, 0, 0, 1)), 7)),
    replace(FIRST, store_host=Host.of(bytes((10, 0, 0, 1)), 7)),
    replace(FIRST, born_host=V6, sys_flag=int(MessageSysFlag.BORNHOST_V6)),
    replace(FIRST, store_host=V6, sys_flag=int(MessageSysFlag.STOREHOSTADDRESS_V6)),
    replace(FIRST, sys_flag=int(MessageSysFlag.COMPRESSED), body=b"x" * 99),
)


class StrictReader(StoredMessageReader):
    """Decodes every message strictly, by the function derived from the declaration."""

    def _read_lazily(self, data: bytes, position: int, messages: list[StoredMessage]) -> int:
        return position


def decode_strictly(data: bytes) -> tuple[StoredMessage, ...]:
    return StrictReader().decode(data)


def outcome(read: object, data: bytes) -> object:
    """The result, or only that there was an error, as positions differ."""
    assert callable(read)
    try:
        return read(data)
    except DecodeError:
        return DecodeError


def encode_all(*messages: StoredMessage) -> bytes:
    return b"".join(encode_stored_message(message, compress=True) for message in messages)


@given(st.lists(st.sampled_from(OTHERS), max_size=6))
def test_messages_of_every_kind_are_read_as_written(messages: list[StoredMessage]) -> None:
    data = encode_all(*messages)
    read = decode_stored_messages(data)
    assert read == decode_strictly(data)
    flag = int(MessageSysFlag.COMPRESSED)
    assert [replace(message, store_size=0) for message in read] == [
        replace(message, sys_flag=message.sys_flag & ~flag) for message in messages
    ]


@given(
    st.lists(st.tuples(st.sampled_from(OF_ONE_SIZE), st.integers(1, 5)), max_size=6),
    st.integers(0, 3),
)
def test_messages_of_one_size_are_read(runs: list[tuple[StoredMessage, int]], missing: int) -> None:
    messages = [message for message, times in runs for _ in range(times)]
    data = encode_all(*messages)
    assert {len(encode_all(message)) for message in messages} <= {len(encode_all(FIRST))}
    read = decode_stored_messages(data)
    assert read == decode_strictly(data)
    assert [replace(message, store_size=0) for message in read] == messages
    reader, count = StoredMessageReader(), len(data) // len(encode_all(FIRST)) * missing // 3
    part = data[: count * len(encode_all(FIRST))]
    assert reader.decode(part) == read[:count]
    assert reader.decode(data) == read


@given(st.integers(0, 5 * len(encode_all(FIRST)) - 1), st.integers(1, 255))
def test_damage_among_messages_of_one_size_is_found(place: int, change: int) -> None:
    data = bytearray(5 * encode_all(FIRST))
    data[place] ^= change
    raw = bytes(data)
    assert outcome(decode_stored_messages, raw) == outcome(decode_strictly, raw)
    reader = StoredMessageReader()
    reader.decode(5 * encode_all(FIRST))
    assert outcome(reader.decode, raw) == outcome(decode_strictly, raw)


@given(st.integers(0, len(encode_all(FIRST)) - 1), st.sampled_from((0x00, 0x01, 0x7F, 0x80, 0xFF)))
def test_damage_anywhere_is_found_as_decode_strictly(place: int, byte: int) -> None:
    data = bytearray(encode_all(FIRST, FIRST, FIRST))
    data[len(encode_all(FIRST)) + place] = byte
    raw = bytes(data)
    assert outcome(decode_stored_messages, raw) == outcome(decode_strictly, raw)


@pytest.mark.parametrize("length", range(1, len(encode_all(FIRST))))
def test_a_cut_message_is_refused_with_its_number(length: int) -> None:
    with pytest.raises(DecodeError) as refused:
        decode_stored_messages(encode_all(FIRST, FIRST) + encode_all(FIRST)[:length])
    assert refused.value.path is not None
    assert refused.value.path.startswith("messages[2]")


def test_only_another_layout_is_decoded_strictly(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = list[int]()

    def counting(data: bytes, place: int) -> object:
        parsed.append(place)
        return parse_stored_message_raw(data, place)

    monkeypatch.setattr("rocketwire.wire.message.lazy_reader.parse_stored_message_raw", counting)
    elsewhere = replace(FIRST, topic="U")
    longer = replace(FIRST, topic=128 * "T")
    data = encode_all(FIRST, FIRST, elsewhere, elsewhere, longer, FIRST, elsewhere)
    assert len(decode_stored_messages(data)) == 7
    assert parsed == [4 * len(encode_all(FIRST))]


def test_a_limit_of_messages_holds_for_those_alike() -> None:
    limits = StoredLimits(max_messages=3)
    assert len(decode_stored_messages(3 * encode_all(FIRST), limits=limits)) == 3
    with pytest.raises(DecodeError):
        decode_stored_messages(4 * encode_all(FIRST), limits=limits)


@given(st.lists(st.lists(st.sampled_from(OTHERS), max_size=4), max_size=4), st.data())
def test_responses_are_independent(answers: list[list[StoredMessage]], data: st.DataObject) -> None:
    reader = StoredMessageReader()
    for messages in answers:
        raw = bytearray(encode_all(*messages))
        if raw and data.draw(st.booleans()):
            raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
        assert outcome(reader.decode, bytes(raw)) == outcome(decode_stored_messages, bytes(raw))


def test_a_reader_knows_whether_the_last_response_was_ordinary() -> None:
    reader = StoredMessageReader()
    inner = replace(FIRST, sys_flag=int(MessageSysFlag.INNER_BATCH | MessageSysFlag.NEED_UNWRAP))
    flags = list[bool]()
    for messages in ([FIRST, FIRST], [FIRST, FIRST], [FIRST, inner], [inner], [FIRST]):
        reader.decode(encode_all(*messages))
        flags.append(reader.is_ordinary)
    assert flags == [True, True, False, False, True]


@pytest.mark.parametrize("sizes", [(5,) * 40, (5, 6, 5, 0), (7,)], ids=str)
def test_a_reader_knows_the_size_of_the_last_response(sizes: tuple[int, ...]) -> None:
    reader = StoredMessageReader()
    messages = [replace(FIRST, body=b"x" * size or None) for size in sizes]
    reader.decode(encode_all(FIRST, FIRST))
    reader.decode(encode_all(*messages))
    assert (reader.is_ordinary, reader.count, reader.body_size) == (True, len(sizes), sum(sizes))


@pytest.mark.parametrize(
    "offsets",
    [
        *(range(40), (*range(32), *range(31, 40)), (*range(32), *range(34, 40)), (0, 1, 3, 2)),
        *((1, 1), (5, 9), (-1, 0), (7,)),
    ],
    ids=str,
)
@pytest.mark.parametrize("bodies", [(b"x",), (b"x", b"yy")], ids=["alike", "by turns"])
def test_a_reader_knows_whether_offsets_of_the_last_response_ascend(
    offsets: Sequence[int], bodies: tuple[bytes, ...]
) -> None:
    reader = StoredMessageReader()
    messages = [
        replace(FIRST, queue_offset=offset, body=bodies[number % len(bodies)])
        for number, offset in enumerate(offsets)
    ]
    reader.decode(encode_all(FIRST, FIRST))
    reader.decode(encode_all(*messages))
    assert reader.ascends == (list(offsets) == sorted({*offsets}) and offsets[0] >= 0)


@pytest.mark.parametrize("size", [0, 1, 88, 120])
def test_a_message_that_is_no_longer_than_its_body_is_damage(size: int) -> None:
    reader, raw = StoredMessageReader(), bytearray(encode_all(FIRST, FIRST, FIRST, FIRST))
    reader.decode(encode_all(FIRST, FIRST))
    place = len(raw) // 4
    raw[place : place + 4] = raw[place + 84 : place + 88] = size.to_bytes(4)

    for begin in (0, place):
        with pytest.raises(DecodeError):
            reader.decode(bytes(raw[begin:]))
        read = reader.decode(bytes(raw[begin:]), strict=False)
        assert len(read) == (begin == 0)
