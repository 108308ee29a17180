"""Headers of many frames to columns.

Rules of this file: strict JSON headers are read many at a time by msgspec, which knows the few members that become columns;
whatever it does not take, the codec decides.  What a topic, a group and a queue are called depends on the request's code.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from rocketwire.codes import LanguageCode
from rocketwire.errors import CodecError
from rocketwire.wire.binary_header import decode_binary_header
from rocketwire.wire.grammar import parse_binary_header
from rocketwire.wire.json_header import decode_json_header
from rocketwire_tools.pcap.sync import JSON

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire.wire.fields import HeaderFields

    Array = np.ndarray[Any, Any]

_SHORT_NAMED: Final = np.array([310, 320, 325])
"""Requests whose header has names of one letter (Java: ``SendMessageRequestHeaderV2``)."""
_LEAST: Final = -(1 << 31)
_MOST: Final = (1 << 31) - 1


class Ext(msgspec.Struct, gc=False):
    """The extension fields that become columns."""

    topic: str | None = None
    consumerGroup: str | None = None
    producerGroup: str | None = None
    group: str | None = None
    groupName: str | None = None
    queueId: str | None = None
    a: str | None = None
    b: str | None = None
    e: str | None = None


class Header(msgspec.Struct, gc=False):
    """A header as far as it becomes columns."""

    code: int = 0
    language: str | None = "JAVA"
    version: int = 0
    opaque: int = 0
    flag: int = 0
    remark: str | None = None
    extFields: Ext | None = None


BAD: Final = Header(language=None)
"""Stands for a header that cannot be read."""
NO_EXT: Final = Ext()
_lines: Final = msgspec.json.Decoder(Header).decode_lines
_one: Final = msgspec.json.Decoder(Header).decode


@dataclass(slots=True)
class Columns:
    """What the headers say, one entry each; None, or zero among the numbers, where nothing is said.

    Attributes:
        ok: whether the header could be read.
    """

    code: Array
    version: Array
    opaque: Array
    flag: Array
    ok: Array
    language: list[str | None]
    remark: list[str | None]
    topic: list[str | None]
    group: list[str | None]
    queue_id: list[int | None]


def read_headers(headers: Array, types: Array) -> Columns:
    """Read headers.

    Args:
        headers: their bytes, an array of objects.
        types: JSON or ROCKETMQ for each.
    """
    found = _read(headers, types)
    numbers = _numbers(found)
    if numbers is None:
        found = [one if _in_range(one) else BAD for one in found]
        numbers = np.array([(one.code, one.version, one.opaque, one.flag) for one in found]).T
    exts = [one.extFields or NO_EXT for one in found]
    columns = Columns(
        code=numbers[0],
        version=numbers[1],
        opaque=numbers[2],
        flag=numbers[3],
        ok=np.fromiter((one is not BAD for one in found), np.bool_, len(found)),
        language=[one.language for one in found],
        remark=[one.remark for one in found],
        topic=[ext.topic for ext in exts],
        group=[
            ext.consumerGroup or ext.producerGroup or ext.group or ext.groupName for ext in exts
        ],
        queue_id=[_NUMBERS[ext.queueId] for ext in exts],
    )
    short = np.isin(columns.code, _SHORT_NAMED) & (columns.flag & 1 == 0)
    for i in np.flatnonzero(short).tolist():
        ext = exts[i]
        columns.topic[i] = ext.b or columns.topic[i]
        columns.group[i] = ext.a or columns.group[i]
        if ext.e is not None:
            columns.queue_id[i] = _NUMBERS[ext.e]
    return columns


class _Numbers(dict[str | None, int | None]):
    """Texts as numbers, each looked into once; there are few queues."""

    def __missing__(self, text: str | None) -> int | None:
        number = None if text is None else _number(text)
        if len(self) < _MOST_NUMBERS:
            self[text] = number
        return number


_MOST_NUMBERS: Final = 65_536
_NUMBERS: Final = _Numbers()


def _numbers(found: Sequence[Header]) -> Array | None:
    """Code, version, opaque and flag; None if one of them has more than 32 bits."""
    numbers = array("q")
    try:
        for column in (
            [one.code for one in found],
            [one.version for one in found],
            [one.opaque for one in found],
            [one.flag for one in found],
        ):
            numbers.extend(column)
    except OverflowError:
        return None
    together = np.frombuffer(numbers, np.int64).reshape(4, -1)
    return together if together.min() >= _LEAST and together.max() <= _MOST else None


def _read(headers: Array, types: Array) -> Sequence[Header]:
    rocketmq = np.flatnonzero(types != JSON)
    if not len(rocketmq):
        return _read_jsons(headers.tolist())
    jsons = np.flatnonzero(types == JSON)
    found = np.empty(len(headers), np.object_)
    found[jsons] = np.fromiter(_read_jsons(headers[jsons].tolist()), np.object_, len(jsons))
    for i in rocketmq.tolist():
        found[i] = _read_rocketmq(headers[i])
    result: Sequence[Header] = found.tolist()
    return result


def _number(text: str) -> int | None:
    try:
        number = int(text)
    except ValueError:
        return None
    return number if _LEAST <= number <= _MOST else None


def _read_jsons(headers: Sequence[bytes | bytearray]) -> list[Header]:
    found = _read_all(headers)
    return [_read_json(header) for header in headers] if found is None else found


def _read_all(headers: Sequence[bytes | bytearray]) -> list[Header] | None:
    """Read JSON headers at once; None if one of them is not what they usually are."""
    if not headers:
        return []
    text = b"\n".join(headers)
    if text.count(b"\n") != max(len(headers) - 1, 0):
        return None
    try:
        found: list[Header] = _lines(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if len(found) != len(headers):
        return None
    return found


def _in_range(header: Header) -> bool:
    numbers = (header.code, header.version, header.opaque, header.flag)
    return min(numbers) >= _LEAST and max(numbers) <= _MOST


def _read_json(header: bytes | bytearray) -> Header:
    try:
        found = _one(header)
        if _in_range(found):
            return found
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        return _of_fields(decode_json_header(bytes(header)))
    except CodecError:
        return BAD


def _read_rocketmq(header: bytes | bytearray) -> Header:
    try:
        (code, language, version, opaque, flag, remark, fields), _ = parse_binary_header(
            bytes(header)
        )
    except CodecError:
        return BAD
    name = _LANGUAGES.get(language) or str(language)
    return Header(code, name, version, opaque, flag, remark or None, _ext(fields))


def _of_fields(fields: HeaderFields) -> Header:
    language = fields.language
    if isinstance(language, LanguageCode):
        language = language.name
    return Header(
        code=fields.code,
        language=None if language is None else str(language),
        version=fields.version,
        opaque=fields.opaque,
        flag=fields.flag,
        remark=fields.remark,
        extFields=_ext(fields.ext_fields),
    )


_LANGUAGES: Final = {int(code): code.name for code in LanguageCode}


def _ext(fields: Mapping[str, Any] | None) -> Ext | None:
    if not fields:
        return None
    get = fields.get
    return Ext(
        get("topic"), get("consumerGroup"), get("producerGroup"), get("group"), get("groupName"),
        get("queueId"), get("a"), get("b"), get("e"),
    )  # fmt: skip


def ext_fields_text(header: bytes, header_type: int) -> str | None:
    """The extension fields of a header as JSON text, for who wants all of them."""
    try:
        fields = (
            decode_json_header(header) if header_type == JSON else decode_binary_header(header)[0]
        ).ext_fields
    except CodecError:
        return None
    return None if fields is None else msgspec.json.encode(fields).decode()
