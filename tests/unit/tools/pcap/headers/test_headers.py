"""Headers as columns, by msgspec all at once or by the codec one by one."""

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rocketwire.codes import SerializeType
from rocketwire.errors import CodecError
from rocketwire.messages.operations.registry import OPERATIONS
from rocketwire.messages.send import SendMessageRequestHeaderV2
from rocketwire.wire.binary_header import decode_binary_header
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.pcap.headers.columns import (
    OPTIONAL_COLUMNS,
    REQUESTS_WITH_LETTERS,
    Columns,
)
from rocketwire_tools.pcap.headers.headers import HeaderReader, ext_fields_text
from rocketwire_tools.pcap.streams.header_bytes import header_bytes

GOOD = b'{"code":105,"language":"JAVA","version":513,"opaque":7,"flag":0,"extFields":{"topic":"T"}}'


def read(*headers: bytes, rocketmq: tuple[int, ...] = ()) -> SimpleNamespace:
    """Columns; those without numbers are lists."""
    kinds = np.array([number in rocketmq for number in range(len(headers))], np.int8)
    columns = HeaderReader().read(header_bytes(headers), kinds)
    values: dict[str, Any] = {name: getattr(columns, name) for name in Columns.__dataclass_fields__}
    return SimpleNamespace(**values | {name: values[name].to_pylist() for name in OPTIONAL_COLUMNS})


def row(columns: SimpleNamespace, number: int) -> dict[str, object]:
    return {name: getattr(columns, name)[number] for name in Columns.__dataclass_fields__}


def binary(**members: Any) -> bytes:
    command = RemotingCommand(code=310, serialize_type=SerializeType.ROCKETMQ, **members)
    return encode(command)[8:]


@pytest.mark.parametrize(
    "header",
    [
        b'{"code":1e99,"opaque":1}',
        b'{"code":105',
        b"[1]",
        b"",
        b'{"code":105}\n{"code":105}',
        b"\xff\xfe",
        b'{"opaque":99999999999}',
        b'{"opaque":99999999999999999999999}',
    ],
)
def test_header_that_cannot_be_read_spoils_no_other(header: bytes) -> None:
    columns = read(GOOD, header, GOOD)
    assert [True, False, True] == columns.ok.tolist()
    assert [7, 0, 7] == columns.opaque.tolist()
    assert ["T", None, "T"] == columns.topic


def test_names_of_one_letter_are_those_of_sent_messages_only() -> None:
    fields = b'"extFields":{"a":"g","b":"t","e":"3"}'
    sent, pull, answer = (
        b'{"code":%b,"flag":%b,%b}' % (code, flag, fields)
        for code, flag in ((b"310", b"0"), (b"11", b"0"), (b"310", b"1"))
    )
    columns = read(sent, pull, answer)
    assert ["t", None, None] == columns.topic
    assert ["g", None, None] == columns.group
    assert [3, None, None] == columns.queue_id


@pytest.mark.parametrize("text", ["", "x", "99999999999", "1.5"])
def test_queue_that_is_no_number_has_none(text: str) -> None:
    assert [None] == read(b'{"extFields":{"queueId":"%b"}}' % text.encode()).queue_id


def test_binary_headers_read_together_are_what_the_codec_reads() -> None:
    chance = random.Random(5)
    names = ("topic", "group", "a", "b", "e", "queueId", "other", "consumerGroup", "\xe4")
    texts = ("", "1", "T", "gr\xfcn", "x" * 300)
    headers: list[bytes] = []
    for opaque in range(600):
        fields = {chance.choice(names): chance.choice(texts) for _ in range(chance.randrange(8))}
        damaged = bytearray(
            binary(opaque=opaque, ext_fields=fields or None, remark=chance.choice((None, "why")))
        )
        if chance.random() < 0.3:
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        cut = chance.choice((0, 0, 0, chance.randrange(len(damaged))))
        headers.append(bytes(damaged[: len(damaged) - cut]))
    joint = read(*headers, rocketmq=tuple(range(len(headers))))
    assert [row(read(header, rocketmq=(0,)), 0) for header in headers] == [
        row(joint, number) for number in range(len(headers))
    ]
    for number, header in enumerate(headers):
        try:
            parsed, _ = decode_binary_header(header)
        except CodecError:
            assert not joint.ok[number]
            continue
        assert (parsed.code, parsed.opaque) == (joint.code[number], joint.opaque[number])
        assert parsed.remark == joint.remark[number]
        assert (parsed.ext_fields or {}).get("topic") == joint.topic[number] or parsed.code == 310


def test_all_extension_fields_are_given_as_json_text() -> None:
    assert '{"topic":"T"}' == ext_fields_text(GOOD, 0)
    assert '{"x":"1"}' == ext_fields_text(binary(ext_fields={"x": "1"}), 1)
    assert ext_fields_text(b"{", 0) is None
    assert ext_fields_text(b"{}", 0) is None


def test_requests_with_names_of_one_letter_are_those_of_the_registry() -> None:
    codes = {
        code
        for code, operation in OPERATIONS.items()
        if operation.request_header is SendMessageRequestHeaderV2
    }
    assert codes == set(REQUESTS_WITH_LETTERS)


@pytest.mark.parametrize("length", [-1500, -3, -1, 0, 32767])
def test_impossible_length_in_a_binary_header_spoils_only_it(length: int) -> None:
    good = binary(opaque=7, ext_fields={"topic": "T"})
    offset = good.index(b"topic") - 2
    damaged = good[:offset] + length.to_bytes(2, "big", signed=True) + good[offset + 2 :]
    columns = read(good, damaged, good, rocketmq=(0, 1, 2))
    assert [True, False, True] == columns.ok.tolist()
    assert ["T", None, "T"] == columns.topic


@pytest.mark.parametrize("name", ["remark", "language"])
def test_half_a_surrogate_pair_is_shown_as_java_writes_it(name: str) -> None:
    columns = read(GOOD, b'{"code":1,"%b":"a\\ud83dz"}' % name.encode(), GOOD)
    assert "a?z" == getattr(columns, name)[1]
    assert columns.ok.all()
    assert ["T", None, "T"] == columns.topic


def test_half_a_surrogate_pair_of_an_extension_field() -> None:
    header = b'{"code":105,"extFields":{"topic":"\\udc00","consumerGroup":"g\\ud800"}}'
    columns = read(header)
    assert (["?"], ["g?"]) == (columns.topic, columns.group)
    assert '{"topic":"?","consumerGroup":"g?"}' == ext_fields_text(header, 0)


@pytest.mark.parametrize(
    ("header", "code"),
    [(b"{'code':11,}", 11), (b'{"code":"11"}', 11), (b'{"code":11.0,"flag":null}', 11)],
)
def test_headers_that_only_java_accepts_are_read_by_the_codec(header: bytes, code: int) -> None:
    columns = read(header, GOOD)
    assert [code, 105] == columns.code.tolist()
    assert columns.ok.all()
