"""Many JSON headers that are read together have the columns of each."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from rocketwire.codes import LanguageCode, RequestCode, SerializeType
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.pcap.headers.columns import Columns
from rocketwire_tools.pcap.headers.headers import HeaderReader
from rocketwire_tools.pcap.streams.header_bytes import HeaderBytes, concatenate, header_bytes

SENT = (
    b'{"code":310,"extFields":{"a":"group_12","b":"topic-7","c":"TBW102","e":"3","g":"1700000012345",'
    b'"i":"UNIQ_KEY\\u00017F00000100012A139A55\\u0002WAIT\\u0001true\\u0002","n":"broker-a"},"flag":0,"language":"JAVA",'
    b'"opaque":12,"serializeTypeCurrentRPC":"JSON","version":513}'
)
PULLED = (
    b'{"code":0,"extFields":{"suggestWhichBrokerId":"0","nextBeginOffset":"5121","queueId":"4","consumerGroup":"",'
    b'"group":"G1","topic":"T"},"flag":1,"language":"GO","opaque":-2147483648,"remark":"FOUND 1","version":513}'
)
WITHOUT_FIELDS = (
    b'{"code":34,"extFields":{},"flag":0,"language":"CPP","opaque":1234567890,"version":399}\n'
)
NO_FIELDS = b'{"code":34,"extFields":null,"flag":2,"opaque":0,"remark":null,"version":0}'
FOREIGN = '{"code":11,"extFields":{"topic":"\u4e3b\u98981","queueId":"-1"},"opaque":7}'.encode()
SHORTEST = b"{}"
SEVERAL = (SENT, PULLED, WITHOUT_FIELDS, NO_FIELDS, FOREIGN, SHORTEST)


def rows(columns: Columns) -> list[dict[str, object]]:
    lists = {name: getattr(columns, name).tolist() for name in Columns.__dataclass_fields__}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def read(headers: HeaderBytes) -> list[dict[str, object]]:
    return rows(HeaderReader().read(headers, np.zeros(len(headers), np.int8)))


def decode_each(*headers: bytes) -> list[dict[str, object]]:
    return read(header_bytes(headers))


def alone(header: bytes) -> dict[str, object]:
    return decode_each(header)[0]


UNUSUAL = {
    "empty": b"",
    "blank": b"  ",
    "a line feed alone": b"\n",
    "cut": SENT[:-20],
    "too much": SENT + b"}",
    "bytes of zero behind": SENT + b"\0",
    "a byte of zero in a text": SENT.replace(b"TBW102", b"TB\x00102"),
    "a line feed in a text": SENT.replace(b"TBW102", b"TB\n102"),
    "a line feed in front": b"\n" + SENT,
    "line feeds behind": SENT + b"\n\n",
    "a carriage return behind": SENT + b"\r\n",
    "in several lines": SENT.replace(b",", b",\n"),
    "line separators of Unicode": SENT.replace(b"TBW102", "T\u2028\u2029\x85".encode()),
    "two objects": b'{"code":1}{"code":2}',
    "two objects in two lines": b'{"code":1}\n{"code":2}',
    "an object cut at a comma": b'{"code":1',
    "the rest of an object": b',"opaque":2}',
    "the beginning of a list": b'{"code":1,"x":[{}',
    "the end of a list": b"{}]}",
    "the beginning of a text": b'{"code":1,"x":"}',
    "the end of a text": b'{"}',
    "an array": b"[1]",
    "a number": b"7",
    "not UTF-8": b"\xff\xfe",
    "a topic that is not UTF-8": b'{"extFields":{"topic":"\xff"}}',
    "an opaque of 33 bits": b'{"opaque":2147483648}',
    "an opaque of 64 bits": b'{"opaque":9223372036854775807}',
    "an opaque of 400 digits": b'{"opaque":%b}' % (b"9" * 400),
    "a negative opaque of 33 bits": b'{"opaque":-2147483649}',
    "a fraction": b'{"code":11.5}',
    "an exponent": b'{"code":1e99}',
    "a leading zero": b'{"code":011}',
    "a member twice": b'{"code":1,"code":2}',
    "a field twice": b'{"extFields":{"topic":"a","topic":"b"}}',
    "fields twice": b'{"extFields":{"topic":"a"},"extFields":{"group":"g"}}',
    "lists within lists": b'{"x":' + b"[" * 100_000,
    "objects within objects": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "a name with an escape": b'{"c\\u006fde":5}',
    "half a pair": b'{"remark":"\\ud83d"}',
    "a field that is no text": b'{"extFields":{"topic":7}}',
    "fields that are a list": b'{"extFields":["topic"]}',
    "a text for a number": b'{"code":"11"}',
    "another language": b'{"language":"KLINGON"}',
    "a language that is a number": b'{"language":7}',
    "no language": b'{"language":null}',
    "single quotes": b"{'code':11,}",
    "a reference": b'{"extFields":{"$ref":"$"}}',
    "a long topic": b'{"extFields":{"topic":"%b"}}' % (b"T" * 5000),
}
"""Unusual headers; most are invalid."""


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_header_changes_no_other(name: str) -> None:
    headers = [*SEVERAL, UNUSUAL[name], *SEVERAL]
    assert [alone(header) for header in headers] == decode_each(*headers)


def as_the_codec_writes_them(count: int) -> list[bytes]:
    chance = random.Random(3)
    every: list[bytes] = []
    for number in range(count):
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
    return every


def test_headers_of_both_forms_in_several_pieces_and_any_order() -> None:
    chance = random.Random(9)
    every = as_the_codec_writes_them(300)
    command = RemotingCommand(code=11, ext_fields={"topic": "R"}, serialize_type=SerializeType.ROCKETMQ)  # fmt: skip
    rocketmq = encode(command)[8:]
    every[::7] = [rocketmq] * len(every[::7])
    expected = [alone(header) for header in every if header is not rocketmq]
    pieces: Sequence[HeaderBytes] = [
        header_bytes(every[:100]),
        header_bytes(every[100:130]),
        header_bytes(every[130:]),
    ]
    order = np.array(chance.sample(range(300), 260))
    types = np.array([header is rocketmq for header in every], np.int8)
    decoded = rows(HeaderReader().read(concatenate(pieces).take(order), types[order]))
    json = iter(expected)
    by_number = [None if is_binary else next(json) for is_binary in types]
    for number, row in zip(order.tolist(), decoded, strict=True):
        if types[number]:
            assert ("R", 11, True) == (row["topic"], row["code"], row["ok"])
        else:
            assert by_number[number] == row
