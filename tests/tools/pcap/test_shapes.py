"""Headers that are read many at a time say the same as each of them does by itself."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rocketwire.codes import LanguageCode, RequestCode, SerializeType
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.pcap import header_bytes, headers, shapes
from rocketwire_tools.pcap.headers import Columns, HeaderReader

if TYPE_CHECKING:
    from rocketwire_tools.pcap.header_bytes import HeaderBytes

Array = np.ndarray[Any, Any]

SENT = (
    b'{"code":310,"extFields":{"a":"group_12","b":"topic-7","c":"TBW102","e":"3","g":"1700000012345",'
    b'"i":"UNIQ_KEY\\u00017F00000100012A139A55\\u0002WAIT\\u0001true\\u0002","n":"broker-a"},"flag":0,"language":"JAVA",'
    b'"opaque":12,"serializeTypeCurrentRPC":"JSON","version":513}'
)
PULLED = (
    b'{"code":0,"extFields":{"suggestWhichBrokerId":"0","nextBeginOffset":"5121","queueId":"4","consumerGroup":"",'
    b'"group":"G1","topic":"T"},"flag":1,"language":"GO","opaque":-2147483648,"remark":"FOUND 1","version":513}'
)
BARE = b'{"code":34,"extFields":{},"flag":0,"language":"CPP","opaque":1234567890,"version":399}'
NO_FIELDS = b'{"code":34,"extFields":null,"flag":2,"opaque":0,"remark":null,"version":0}'
FOREIGN = '{"code":11,"extFields":{"topic":"\u4e3b\u98981","queueId":"-1"},"opaque":7}'.encode()
SHORTEST = b"{}"
SEVERAL = (SENT, PULLED, BARE, NO_FIELDS, FOREIGN, SHORTEST)


def said(reader: HeaderReader, *each: bytes) -> list[dict[str, object]]:
    columns = reader.read(header_bytes.header_bytes(each), np.zeros(len(each), np.int8))
    lists = {name: getattr(columns, name).tolist() for name in Columns.__dataclass_fields__}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def known(*each: bytes) -> HeaderReader:
    """A reader that has seen headers of these shapes."""
    reader = HeaderReader()
    said(reader, *each, *each)
    return reader


def alone(header: bytes) -> dict[str, object]:
    return said(HeaderReader(), header)[0]


def refused(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many headers are read one by one from now on."""
    counts: list[int] = []
    singly = headers.read_singly

    def counted(some: HeaderBytes, types: Array, wanted: Any) -> Columns:
        counts.append(len(some))
        return singly(some, types, wanted)

    monkeypatch.setattr(headers, "read_singly", counted)
    return counts


@pytest.mark.parametrize("header", SEVERAL)
def test_the_second_header_of_a_shape_is_read_without_an_object(
    header: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = alone(header)
    reader = known(header)
    counts = refused(monkeypatch)
    assert [expected] * 2 == said(reader, header, header)
    assert not counts


def test_what_differs_in_digits_is_of_one_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    other = (
        SENT.replace(b"group_12", b"group_AF").replace(b"topic-7", b"topic-0").replace(b'"e":"3"', b'"e":"0"')
        .replace(b'"opaque":12', b'"opaque":98').replace(b"310", b"320").replace(b"2A139A55", b"FFFFFFFF")
    )  # fmt: skip
    expected = alone(other)
    reader = known(SENT)
    counts = refused(monkeypatch)
    assert [expected] == said(reader, other)
    assert not counts
    assert ("topic-0", "group_AF", 0, 98, 320) == tuple(
        expected[name] for name in ("topic", "group", "queue_id", "opaque", "code")
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"code":310', b'"code":3A0'),
        (b'"code":310', b'"code":010'),
        (b'"code":310', b'"code":311'),
        (b'"flag":0', b'"flag":1'),
        (b'"flag":0', b'"flag":A'),
        (b'"opaque":12', b'"opaque":00'),
        (b"extFields", b"extBields"),
        (b"extFields", b"ext1ields"),
        (b"UNIQ_KEY\\u0001", b"UNIQ_KEY\\uD801"),
        (b"JAVA", b"JBV4"),
        (b"topic-7", b"topic\xff7"),
        (b"topic-7", b'topic"7'),
        (b"topic-7", b"topic\\7"),
        (b"topic-7", b"topic\x007"),
        (b'"opaque":12', b'"opaque": 2'),
        (b'"version"', b'"opaque1"'),
        (b'"n":"broker-a"', b'"n":["roker-a]'),
        (b'513}', b"513,"),
        (b'513}', b"51}}"),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_known_shape_is_read_by_itself(old: bytes, new: bytes) -> None:
    assert len(old) == len(new)
    other = SENT.replace(old, new)
    assert [alone(SENT), alone(other), alone(SENT)] == said(known(SENT), SENT, other, SENT)


@pytest.mark.parametrize(
    "opaque",
    [b"2147483647", b"2147483648", b"9999999999", b"0000000001", b"1A00000000", b"10000000A0"],
)
@pytest.mark.parametrize("sign", [b"", b"-"])
def test_numbers_of_many_digits(sign: bytes, opaque: bytes) -> None:
    header, other = (b'{"code":1,"opaque":%b%b}' % (sign, each) for each in (b"1234567890", opaque))
    assert [alone(other)] == said(known(header), other)


@pytest.mark.parametrize(
    "header",
    [
        b'{"code":1,"code":2}', b'{"extFields":{"topic":"a","topic":"b"}}', b'{"code":1 }', b'{"code":1.5}', b'{"code":null}',
        b'{"code":123456789}', b'{"extFields":{"queueId":"x"}}', b'{"extFields":{"queueId":"123456789"}}', b'{"extFields":7}',
        b'{"extFields":{"topic":7}}', b'{"extFields":{"topic":{}}}', b'{"x":{"a":1},"code":2}', b'{"x":[1],"code":2}', b"[]",
        b'{"extFields":{"topic":"%b"}}' % (b"T" * 129), b'{"extFields":{"topic":"a\\u0041"}}', b'{"language":7}', b'{"code":1,}',
        b'{"remark":"\\ud83d"}', b'{"extFields":{"e":"5","queueId":"6","b":"","a":""},"code":310,"flag":0}', b'{"extFields":{"$ref":"$"}}',
        b'{"extFields":{"topic":null,"queueId":""}}', b'{"x":true,"y":12,"z":"s","code":5}', b'{"remark":"%b"}' % (b"r" * 600), b"",
        b'{"remark":"\\u0041 \\" \\\\ 5","code":1}', b'{"extFields":{"topic":"a"},"extFields":{"group":"g"}}',
    ],
)  # fmt: skip
def test_what_is_out_of_the_ordinary_is_read_as_ever(header: bytes) -> None:
    assert [alone(header)] * 3 == said(known(header), header, header, header)


def test_names_of_one_letter_count_only_in_requests_that_send() -> None:
    other = SENT.replace(b"310", b"311")
    assert [alone(SENT), alone(other)] == said(known(other), SENT, other)
    assert alone(other)["topic"] is None


@pytest.mark.slow
@pytest.mark.parametrize("few_bytes", [0, 1 << 20])
def test_headers_that_were_changed_anywhere_are_read_as_each_by_itself(
    few_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headers, "_FEW_BYTES", few_bytes)
    chance = random.Random(11)
    every = [*SEVERAL * 20]
    for header in SEVERAL * 40:
        changed = bytearray(header)
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(changed))
            changed[at] = (
                chance.choice(b'0123456789AFaf-"\\{}:, \x00\x7f\xe4u')
                if chance.random() < 0.9
                else chance.randrange(256)
            )
        every.append(bytes(changed))
    chance.shuffle(every)
    reader = known(*SEVERAL)
    assert [alone(header) for header in every] == said(reader, *every)
    assert [alone(header) for header in every] == said(reader, *every)


@pytest.mark.slow
def test_headers_as_our_own_codec_writes_them() -> None:
    chance = random.Random(3)
    every: list[bytes] = []
    for number in range(400):
        fields = {
            name: chance.choice(("", "0", "T", "group_7", "7F000001", "a\x01b", "gr\xfcn", "x" * chance.randrange(140)))
            for name in ("topic", "b", "a", "e", "queueId", "group", "consumerGroup", "producerGroup", "groupName", "msgId")
            if chance.random() < 0.4
        }  # fmt: skip
        command = RemotingCommand(
            code=chance.choice((RequestCode.SEND_MESSAGE_V2, RequestCode.PULL_MESSAGE, 0)),
            language=chance.choice((LanguageCode.JAVA, LanguageCode.GO)),
            opaque=chance.choice((number, -number, (1 << 31) - 1)),
            flag=chance.choice((0, 1, 2)),
            remark=chance.choice((None, "why", "queue 7")),
            ext_fields=fields or None,
        )
        every.append(encode(command)[8:])
    every *= 3
    chance.shuffle(every)
    assert [alone(header) for header in every] == said(HeaderReader(), *every)


def test_a_text_that_goes_on_with_zero_bytes_is_another() -> None:
    topics = ["T", "T\0", "T\0\0"] * 2
    every = [
        encode(
            RemotingCommand(
                code=11, ext_fields={"topic": topic}, serialize_type=SerializeType.ROCKETMQ
            )
        )[8:]
        for topic in topics
    ]
    reader = HeaderReader()
    for _ in range(2):
        columns = reader.read(header_bytes.header_bytes(every), np.ones(6, np.int8))
        assert columns.topic is not None
        assert topics == columns.topic.to_pylist()


def test_shapes_and_texts_are_forgotten_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "_MOST", 3)
    monkeypatch.setattr(shapes, "_MOST_TEXTS", 5)
    reader = HeaderReader()
    for number in range(40):
        header = b'{"code":11,"extFields":{"topic":"%b"}}' % (b"t" * number)
        assert [alone(header)] * 2 == said(reader, header, header)


def test_shapes_are_learnt_no_faster_than_it_saves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "_AT_FIRST", 0)
    reader = HeaderReader()
    counts = refused(monkeypatch)
    for _ in range(70):
        said(reader, BARE)
    assert sum(counts) == 70  # a call for one header allows for none
    said(reader, *[BARE] * 70)
    assert sum(counts) == 70


def test_headers_without_a_second_one_of_their_shape_are_not_compared_for_long() -> None:
    chance = random.Random(8)
    texts = (f"{chance.getrandbits(64):x}".translate(_LETTERS) for _ in range(9000))
    each = [b'{"code":11,"extFields":{"topic":"%b"}}' % text.encode() for text in texts]
    reader = HeaderReader()
    columns = reader.read(header_bytes.header_bytes(each * 2), np.zeros(18_000, np.int8))
    assert columns.topic is not None
    assert [header[33:-3].decode() for header in each] * 2 == columns.topic.to_pylist()
    assert [alone(BARE)] * 80 == said(reader, *[BARE] * 80)


_LETTERS = str.maketrans("0123456789", "qrstuvwxyz")


def test_only_wanted_texts_are_looked_for() -> None:
    reader = HeaderReader(frozenset({"remark"}))
    every = header_bytes.header_bytes([SENT, PULLED] * 2)
    columns = reader.read(every, np.zeros(4, np.int8))
    assert columns.topic is columns.group is columns.queue_id is columns.language is None
    assert columns.remark is not None
    assert [None, "FOUND 1"] * 2 == columns.remark.to_pylist()


# ---- the bytes


def some(count: int, seed: int) -> list[bytes]:
    chance = random.Random(seed)
    lengths = (0, 1, 63, 64, 65, 300, 960, 1024, 1025, 5000)
    return [chance.randbytes(chance.choice(lengths)) for _ in range(count)]


def test_bytes_of_headers_come_back_in_any_order() -> None:
    each = some(200, 1)
    made = header_bytes.header_bytes(each)
    order = np.array(random.Random(2).sample(range(200), 150))
    assert each == made.tolist()
    assert [each[number] for number in order] == made.take(order).tolist()
    assert [each[number] for number in order] == made.take(order).packed().tolist()
    assert [] == header_bytes.header_bytes([]).tolist()
    assert [] == made.take(slice(0)).packed().tolist()


def test_what_was_taken_of_several_parts_can_be_joined_and_packed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(header_bytes, "_LARGE", 1 << 19)
    parts = [some(count, count) for count in (900, 0, 10, 20, 1200, 5)]
    made = header_bytes.joined([header_bytes.header_bytes(each) for each in parts])
    every = [header for each in parts for header in each]
    assert len(made.pieces) == 4
    assert every == made.tolist()
    assert every[-1200:] == made.take(slice(-1200, None)).without_others().tolist()
    assert len(made.take(slice(-1200, None)).without_others().pieces) == 2
    few = made.take(np.arange(len(every))[::-50])
    assert every[::-50] == few.packed().tolist()
    assert (
        every[::-50] + parts[0]
        == header_bytes.joined([few, header_bytes.header_bytes(parts[0])]).tolist()
    )


def test_bytes_of_headers_that_are_gone_are_not_kept() -> None:
    made = header_bytes.header_bytes([b"x" * 500] * 100)
    left = header_bytes.joined([made.take(slice(0, 3)), header_bytes.header_bytes([b"y"])])
    assert sum(map(len, left.pieces)) < 4000
    assert [b"x" * 500] * 3 + [b"y"] == left.tolist()
